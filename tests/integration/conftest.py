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
    cluster,
    facade,
    host,
    one,
    recorded_logs,
    replicas,
    rights,
    sign_in,
    start_facade,
    two,
)

__all__ = [
    "admin",
    "api_key",
    "cluster",
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
    "rights",
    "sign_in",
    "start_facade",
    "two",
]
