"""Fixtures that run facade, operator and ingest pods without the local cluster, with a real API server."""

from __future__ import annotations

from tests.support.fixtures.control_plane import admin, control_plane, crds, kubeconfig
from tests.support.fixtures.facade import api_key, cluster, recorded_logs, rights, sign_in, start_facade
from tests.support.fixtures.ingest_installation import installation

__all__ = [
    "admin",
    "api_key",
    "cluster",
    "control_plane",
    "crds",
    "installation",
    "kubeconfig",
    "recorded_logs",
    "rights",
    "sign_in",
    "start_facade",
]
