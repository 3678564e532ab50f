"""The API of one namespace, with our resource definitions."""

from __future__ import annotations

import httpx
import pytest
from tests.support.manifests import NamespaceApi


@pytest.fixture
def server(admin: httpx.Client, crds: None, namespace: str) -> NamespaceApi:
    return NamespaceApi(admin, namespace)
