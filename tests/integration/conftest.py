"""A real API server with our CRDs, a namespace for each test, and a real Redis."""

from tests.support.fixtures.control_plane import (
    admin,
    control_plane,
    crds,
    kubeconfig,
    namespace,
    redis_server,
    redis_url,
)

__all__ = ["admin", "control_plane", "crds", "kubeconfig", "namespace", "redis_server", "redis_url"]
