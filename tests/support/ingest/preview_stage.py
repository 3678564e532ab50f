"""A show with a room and a camera, for operators that are real: gateway, MediaMTX and room server are."""

from __future__ import annotations

import base64
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, ExitStack, asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.support.delivery.livekit_server import KEY, SECRET, LiveKitServer
from tests.support.ingest.encoder import FfmpegEncoder
from tests.support.ingest.ingest_pod import IngestPod
from tests.support.ingest.scripted_facade import ScriptedFacade
from tests.support.operated_namespace import OperatedNamespace
from tests.support.rooms.hosted_rooms import HOSTED
from tests.support.rooms.member import Member, member
from tests.support.waiting import until

from onair_crds.contract.ingest import secret_name
from onair_crds.contract.ingest_gateway import INGEST_SECRET, INGEST_SECRET_KEY
from onair_crds.contract.rooms import API_KEY, API_SECRET, SECRET_NAME
from onair_crds.kube.apis import SECRETS
from onair_crds.kube.errors import ApiError
from onair_crds.shapes import Document
from onair_operator.settings import GatewaySettings, IngestSettings, RoomSettings

INGEST = b"an installation's secret, long enough"
SOURCE = "source-cam"


@dataclass(frozen=True)
class PreviewStage:
    """A show with a room and a camera, and the pods that the camera may be pushed to."""

    namespace: OperatedNamespace
    server: LiveKitServer
    pods: tuple[IngestPod, ...]
    room: str
    key: str

    @property
    def pod(self) -> IngestPod:
        return self.pods[0]

    @property
    def settings(self) -> dict[str, Any]:
        return operator_settings(self.server, self.pods)

    def camera(self, pod: IngestPod | None = None) -> FfmpegEncoder:
        return FfmpegEncoder(f"{(pod or self.pod).rtmp}/{self.key}")

    def joined(self, identity: str = "anna") -> AbstractAsyncContextManager[Member]:
        return member(self.server.url, self.server.token(self.room, identity, canSubscribe=True))

    def previews(self) -> float:
        return self.pod.metric("onair_ingest_previews_wanted")

    async def flows(self) -> None:
        async def check() -> bool:
            source = await self.namespace.get("Source", SOURCE) or {}
            return bool(source.get("status", {}).get("connect") == "Connected")

        await until(check, "the camera is connected")


def operator_settings(server: LiveKitServer, pods: tuple[IngestPod, ...]) -> dict[str, Any]:
    gateways = [
        GatewaySettings(name=pod_name(number), url=f"http://127.0.0.1:{pod.port}")
        for number, pod in enumerate(pods)
    ]
    return {"ingest": IngestSettings(gateways=gateways), "rooms": RoomSettings(url=server.http_url)}


def pod_name(number: int) -> str:
    return f"onair-ingest-{number}"


@asynccontextmanager
async def staged(
    operated_namespace: OperatedNamespace, server: LiveKitServer, folder: Path, pods: int = 1, **settings: str
) -> AsyncIterator[PreviewStage]:
    """Everything but the operator runs for as long as the context lasts.

    Args:
        pods: how many ingest pods there are.
        settings: of their gateways, as environment variables.
    """
    for name, data in (
        (SECRET_NAME, {API_KEY: KEY, API_SECRET: SECRET}),
        (INGEST_SECRET, {INGEST_SECRET_KEY: INGEST.decode()}),
    ):
        await operated_namespace.client.create(
            SECRETS, operated_namespace.namespace, {"metadata": {"name": name}, "stringData": data}
        )
    await operated_namespace.collection()
    preview = {"webrtc": {"displayName": "Camera"}}
    address: Document = {"rtmpPush": {}}
    await operated_namespace.create(
        "Source", SOURCE, {"collectionId": "sunday", "address": address, "preview": preview}
    )
    sources = [{"sourceId": SOURCE}]
    project = await operated_namespace.project("Stopped", **HOSTED, sources=sources, room={"state": "Open"})
    with ScriptedFacade(INGEST) as facade, ExitStack() as stack:
        started = tuple(
            stack.enter_context(
                IngestPod(folder_of(folder, number), facade.url, INGEST, pod_name(number), settings)
            )
            for number in range(pods)
        )
        async with operated_namespace.operator(**operator_settings(server, started)):
            key = await until(lambda: stream_key(operated_namespace), "a stream key")
            facade.keys.add(key)
            await until(lambda: opened(operated_namespace), "the room is open")
        yield PreviewStage(operated_namespace, server, started, str(project["metadata"]["uid"]), key)


def folder_of(folder: Path, number: int) -> Path:
    own = folder / pod_name(number)
    own.mkdir()
    return own


async def stream_key(operated_namespace: OperatedNamespace) -> str | None:
    with suppress(ApiError):
        secret = await operated_namespace.client.get(
            SECRETS, operated_namespace.namespace, secret_name(SOURCE)
        )
        return base64.b64decode(secret["data"]["streamKey"]).decode()
    return None


async def opened(operated_namespace: OperatedNamespace) -> bool:
    room = ((await operated_namespace.get("Project", "show")) or {}).get("status", {}).get("room") or {}
    return room.get("phase") == "Open"
