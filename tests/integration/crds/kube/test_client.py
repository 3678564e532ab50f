"""Lists of a real API server."""

from __future__ import annotations

from pathlib import Path

import pytest

from onair_crds.kube.apis import SECRETS
from onair_crds.kube.client import JSON, METADATA_LIST, KubeClient


@pytest.mark.parametrize("accept", [JSON, METADATA_LIST])
async def test_a_list_of_nothing_has_no_items(kubeconfig: Path, namespace: str, accept: str) -> None:
    async with await KubeClient.connect(str(kubeconfig)) as client:
        pages = [page async for page in client.pages(SECRETS, namespace, accept=accept)]
    assert [page["items"] for page in pages] == [[]]
