"""An operator in this process, with a real API server."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.support.fixtures.control_plane import admin, control_plane, crds, kubeconfig, namespace
from tests.support.operated_namespace import OperatedNamespace

from onair_crds.kube.client import KubeClient

__all__ = ["admin", "control_plane", "crds", "kubeconfig", "namespace"]


@pytest.fixture
async def cluster(crds: None, namespace: str, kubeconfig: Path) -> AsyncIterator[OperatedNamespace]:
    async with await KubeClient.connect(str(kubeconfig)) as client:
        yield OperatedNamespace(client, namespace, kubeconfig)
