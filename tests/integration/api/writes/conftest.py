"""Every test here runs through both doors."""

from tests.support.fixtures.doors import door, pytest_generate_tests

__all__ = ["door", "pytest_generate_tests"]
