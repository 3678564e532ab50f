"""An operator that follows gateways, and a source `camera` of a real API server."""

from __future__ import annotations

import base64
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

from tests.support.gateway_server import SECRET, GatewayServer
from tests.support.operated_namespace import OperatedNamespace
from tests.support.waiting import until

from onair_crds.contract.ingest_gateway import INGEST_SECRET, INGEST_SECRET_KEY, stream_of_key
from onair_crds.kube.apis import SECRETS
from onair_crds.kube.errors import ApiError
from onair_crds.shapes import Document
from onair_operator.settings import GatewaySettings, IngestSettings


@asynccontextmanager
async def operated(
    operated_namespace: OperatedNamespace, *gateways: GatewaySettings, **settings: Any
) -> AsyncIterator[None]:
    """An operator that follows these gateways, which know its secret; `settings` are over those of a test."""
    secret = {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": INGEST_SECRET},
        "stringData": {INGEST_SECRET_KEY: SECRET.decode()},
    }
    with suppress(ApiError):  # it is there since the operator before
        await operated_namespace.client.create(SECRETS, operated_namespace.namespace, secret)
    async with operated_namespace.operator(ingest=IngestSettings(gateways=list(gateways)), **settings):
        yield


async def camera(operated_namespace: OperatedNamespace, **address: Any) -> str:
    """A source as kubectl makes one; gives the stream of the key that it gets."""
    await operated_namespace.create(
        "Source", "camera", {"collectionId": "sunday", "address": address or {"rtmpPush": {}}}
    )
    return await key_stream(operated_namespace)


async def key_stream(operated_namespace: OperatedNamespace, other_than: str = "") -> str:
    async def check() -> str | None:
        try:
            secret = await operated_namespace.client.get(
                SECRETS, operated_namespace.namespace, "source-camera"
            )
        except ApiError:
            return None
        stream = stream_of_key(base64.b64decode(secret["data"]["streamKey"]).decode())
        return stream if stream != other_than else None

    return await until(check, "a stream key")


async def status_with(operated_namespace: OperatedNamespace, **fields: Any) -> Document:
    async def check() -> Document | None:
        status = ((await operated_namespace.get("Source", "camera")) or {}).get("status", {})
        return status if {name: status.get(name) for name in fields} == fields else None

    return await until(check, f"a status with {fields}")


async def cut_off(server: GatewayServer, stream: str) -> None:
    async def check() -> bool:
        return stream in server.cut_off

    await until(check, "cut off")
