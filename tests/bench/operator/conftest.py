"""An operator in this process, with a real API server."""

from tests.support.fixtures.operator import cluster

__all__ = ["cluster"]
