"""Every test here runs through both doors."""

from tests.support.fixtures.doors import door

__all__ = ["door"]
