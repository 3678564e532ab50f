"""An operator in this process, with a real API server."""

from tests.support.fixtures.operator import operated_namespace

__all__ = ["operated_namespace"]
