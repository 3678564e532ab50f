"""A namespace of a real API server that an operator may run in."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.support.operated_namespace import OperatedNamespace

from onair_crds.kube.client import KubeClient


@pytest.fixture
async def cluster(crds: None, namespace: str, kubeconfig: Path) -> AsyncIterator[OperatedNamespace]:
    async with await KubeClient.connect(str(kubeconfig)) as client:
        yield OperatedNamespace(client, namespace, kubeconfig)
