"""A namespace of a real API server that an operator may run in."""

from tests.support.fixtures.operator import cluster

__all__ = ["cluster"]
