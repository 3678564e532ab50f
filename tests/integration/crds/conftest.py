"""The API of one namespace, with our resource definitions."""

from __future__ import annotations

import httpx
import pytest
from tests.support.manifests import Server


@pytest.fixture
def server(admin: httpx.Client, crds: None, namespace: str) -> Server:
    return Server(admin, namespace)
