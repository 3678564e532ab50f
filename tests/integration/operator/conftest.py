"""A namespace of a real API server that an operator may run in."""

from tests.support.fixtures.operator import operated_namespace

__all__ = ["operated_namespace"]
