"""A real API server with our CRDs, a namespace for each test, a real Redis, and facades over a cluster."""

from tests.support.fixtures.control_plane import (
    admin,
    control_plane,
    crds,
    kubeconfig,
    namespace,
    redis_server,
    redis_url,
)
from tests.support.fixtures.facade import (
    api_key,
    facade,
    host,
    one,
    recorded_logs,
    replicas,
    resources,
    rights,
    sign_in,
    start_facade,
    two,
)

__all__ = [
    "admin",
    "api_key",
    "control_plane",
    "crds",
    "facade",
    "host",
    "kubeconfig",
    "namespace",
    "one",
    "recorded_logs",
    "redis_server",
    "redis_url",
    "replicas",
    "resources",
    "rights",
    "sign_in",
    "start_facade",
    "two",
]
