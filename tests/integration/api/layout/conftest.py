"""Every test here runs through both doors."""

from tests.support.fixtures.doors import door, pytest_generate_tests
from tests.support.fixtures.facade import canvas

__all__ = ["canvas", "door", "pytest_generate_tests"]
