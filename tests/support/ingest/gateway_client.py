"""Asks a facade's hook as a gateway does."""

from __future__ import annotations

import base64
import secrets as random

import httpx
from pydantic import SecretStr
from tests.support.facade import FacadeThread, StoredResources
from tests.support.plain_http import NO_TLS

from onair_crds.contract.ingest_gateway import (
    HOOK_PATH,
    INGEST_SECRET,
    INGEST_SECRET_KEY,
    PublishRequest,
    gateway_token,
)


def ingest_secret(resources: StoredResources) -> bytes:
    """The installation's secret; made here, as no operator runs."""
    path = f"/api/v1/namespaces/{resources.release}/secrets/{INGEST_SECRET}"
    response = resources.admin.get(path)
    if response.status_code == 404:
        resources.add_secret(
            resources.release, INGEST_SECRET, "Opaque", {INGEST_SECRET_KEY: random.token_hex(32)}
        )
        response = resources.admin.get(path)
    return base64.b64decode(response.raise_for_status().json()["data"][INGEST_SECRET_KEY])


def hook_url(facade: FacadeThread) -> str:
    return f"http://127.0.0.1:{facade.services.ingest_hook.port}"


class PublishHookClient:
    def __init__(self, facade: FacadeThread, secret: bytes, gateway: str = "onair-ingest-0") -> None:
        self.gateway = gateway
        headers = {"Authorization": f"Bearer {gateway_token(secret, 'facade')}"}
        self.http = httpx.Client(base_url=hook_url(facade), headers=headers, timeout=5, verify=NO_TLS)

    def ask(self, key: str, protocol: str = "rtmp") -> str:
        """What the facade says: `Admitted`, the reason of a refusal, or an HTTP status."""
        request = PublishRequest.model_validate(
            {"stream_key": SecretStr(key), "protocol": protocol, "gateway": self.gateway}
        )
        response = self.http.post(HOOK_PATH, content=request.wire())
        if response.status_code == 204:
            return "Admitted"
        return str(response.json()["reason"]) if response.status_code == 403 else str(response.status_code)
