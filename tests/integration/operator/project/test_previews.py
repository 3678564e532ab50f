"""Sources in the rooms of their projects, by the operator, a gateway and a room server that are all real."""

from __future__ import annotations

import base64
import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.error import HTTPError

import pytest
from tests.support.delivery.livekit_server import KEY, SECRET, LiveKitServer
from tests.support.ingest.encoder import Encoder
from tests.support.ingest.ingest_pod import IngestPod
from tests.support.ingest.previews import until
from tests.support.ingest.scripted_facade import ScriptedFacade
from tests.support.operated_namespace import OperatedNamespace
from tests.support.operated_namespace import until as until_told
from tests.support.rooms.hosted_rooms import HOSTED, room_server
from tests.support.rooms.member import Member, member

from onair_crds.contract.ingest import secret_name
from onair_crds.contract.ingest_gateway import INGEST_SECRET, INGEST_SECRET_KEY
from onair_crds.contract.rooms import API_KEY, API_SECRET, SECRET_NAME
from onair_crds.kube.apis import CUSTOM, SECRETS
from onair_crds.kube.errors import ApiError
from onair_crds.shapes import Document
from onair_operator.settings import GatewaySettings, IngestSettings, RoomSettings

pytestmark = pytest.mark.media
INGEST = b"an installation's secret, long enough"
SOURCE = "source-cam"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveKitServer]:
    with room_server(tmp_path_factory.mktemp("livekit")) as server:
        yield server


@dataclass(frozen=True)
class Stage:
    """A show with a room and a camera, and the pod that the camera is pushed to."""

    cluster: OperatedNamespace
    server: LiveKitServer
    pod: IngestPod
    room: str
    key: str

    @property
    def settings(self) -> dict[str, Any]:
        return operator_settings(self.server, self.pod)

    def camera(self) -> Encoder:
        return Encoder(f"{self.pod.rtmp}/{self.key}")

    def joined(self, identity: str = "anna") -> Any:
        return member(self.server.url, self.server.token(self.room, identity, canSubscribe=True))

    def previews(self) -> float:
        return self.pod.metric("onair_ingest_previews_wanted")

    async def flows(self) -> None:
        async def check() -> bool:
            source = await self.cluster.get("Source", SOURCE) or {}
            return source.get("status", {}).get("connect") == "Connected"

        await until_told("the camera is connected", check)


def operator_settings(server: LiveKitServer, pod: IngestPod) -> dict[str, Any]:
    gateway = GatewaySettings(name="onair-ingest-0", url=f"http://127.0.0.1:{pod.port}")
    return {"ingest": IngestSettings(gateways=[gateway]), "rooms": RoomSettings(url=server.http_url)}


@asynccontextmanager
async def staged(
    cluster: OperatedNamespace, server: LiveKitServer, folder: Path, **settings: str
) -> AsyncIterator[Stage]:
    """Everything but the operator runs for as long as the context lasts."""
    for name, data in (
        (SECRET_NAME, {API_KEY: KEY, API_SECRET: SECRET}),
        (INGEST_SECRET, {INGEST_SECRET_KEY: INGEST.decode()}),
    ):
        await cluster.client.create(
            SECRETS, cluster.namespace, {"metadata": {"name": name}, "stringData": data}
        )
    await cluster.collection()
    preview = {"webrtc": {"displayName": "Camera"}}
    address: Document = {"rtmpPush": {}}
    await cluster.create("Source", SOURCE, {"collectionId": "sunday", "address": address, "preview": preview})
    sources = [{"sourceId": SOURCE}]
    project = await cluster.project("Stopped", **HOSTED, sources=sources, room={"state": "Open"})
    with ScriptedFacade(INGEST) as facade, IngestPod(folder, facade.url, INGEST, settings=settings) as pod:
        async with cluster.operator(**operator_settings(server, pod)):
            key = await until_told("a stream key", lambda: stream_key(cluster))
            facade.keys.add(key)
            await until_told("the room is open", lambda: opened(cluster))
        yield Stage(cluster, server, pod, str(project["metadata"]["uid"]), key)


async def stream_key(cluster: OperatedNamespace) -> str | None:
    with suppress(ApiError):
        secret = await cluster.client.get(SECRETS, cluster.namespace, secret_name(SOURCE))
        return base64.b64decode(secret["data"]["streamKey"]).decode()
    return None


async def opened(cluster: OperatedNamespace) -> bool:
    room = ((await cluster.get("Project", "show")) or {}).get("status", {}).get("room") or {}
    return room.get("phase") == "Open"


def has_room(server: LiveKitServer, room: str) -> bool:
    try:
        server.call("ListParticipants", room=room)
    except HTTPError:
        return False
    return True


async def seen(anna: Member, more: int = 10) -> None:
    sizes = anna.sizes.setdefault(SOURCE, [])
    wanted = len(sizes) + more
    await until(lambda: len(sizes) >= wanted, f"{wanted} pictures", 25)


async def gone(anna: Member, within_s: float = 10.0) -> float:
    return await until(lambda: SOURCE not in anna.room.remote_participants, "the preview is gone", within_s)


async def test_a_camera_is_shown_while_somebody_is_there_renamed_live_and_gone_when_it_is_not_to_be(
    cluster: OperatedNamespace, server: LiveKitServer, tmp_path: Path
) -> None:
    async with staged(cluster, server, tmp_path) as stage, cluster.operator(**stage.settings):
        with stage.camera():
            await stage.flows()
            assert stage.previews() == 0, "nobody is there to see it"
            async with stage.joined() as anna:
                await seen(anna)
                shown = anna.room.remote_participants[SOURCE]
                assert (shown.name, json.loads(shown.metadata)) == ("Camera", {"displayName": "Camera"})
                preview = {"preview": {"webrtc": {"displayName": "Balcony"}}}
                await cluster.patch("Source", SOURCE, preview)
                await until(lambda: shown.name == "Balcony", "the new name")
                await until(lambda: json.loads(shown.metadata) == {"displayName": "Balcony"}, "metadata")
                await seen(anna)
            await until(lambda: stage.previews() == 0, "nothing is shown to nobody")
            async with stage.joined() as anna:
                await seen(anna)
                off = {"preview": {"webrtc": {"enabled": False}}}
                await cluster.patch("Source", SOURCE, off)
                assert await gone(anna) < 2
                await cluster.patch("Source", SOURCE, {"preview": {"webrtc": {"enabled": True}}})
                await seen(anna)


async def test_a_camera_that_ends_is_gone_within_two_seconds_and_back_when_it_is(
    cluster: OperatedNamespace, server: LiveKitServer, tmp_path: Path
) -> None:
    async with (
        staged(cluster, server, tmp_path) as stage,
        cluster.operator(**stage.settings),
        stage.joined() as anna,
    ):
        for _ in range(2):
            with stage.camera():
                await seen(anna)
            assert await gone(anna) < 2


async def test_who_removes_a_preview_does_not_see_it_again(
    cluster: OperatedNamespace, server: LiveKitServer, tmp_path: Path
) -> None:
    async with staged(cluster, server, tmp_path) as stage, cluster.operator(**stage.settings):
        with stage.camera():
            async with stage.joined() as anna:
                await seen(anna)
                await cluster.patch("Project", "show", {"room": {"barred": [{"identity": SOURCE}]}})
                await gone(anna)
                await until(lambda: stage.previews() == 0, "it is not wanted any more")
                await cluster.patch("Project", "show", {"room": {"barred": []}})
                await seen(anna)


async def test_another_leader_goes_on_with_previews_without_a_gap(
    cluster: OperatedNamespace, server: LiveKitServer, tmp_path: Path
) -> None:
    async with staged(cluster, server, tmp_path) as stage:
        with stage.camera():
            async with stage.joined() as anna:
                async with cluster.operator(**stage.settings):
                    await seen(anna)
                joined = anna.room.remote_participants[SOURCE].sid
                async with cluster.operator(**stage.settings), cluster.operator(**stage.settings):
                    await seen(anna, more=90)
                    assert anna.room.remote_participants[SOURCE].sid == joined, "it has joined anew"


async def test_a_new_leader_ends_what_is_shown_in_the_room_of_a_project_that_is_gone(
    cluster: OperatedNamespace, server: LiveKitServer, tmp_path: Path
) -> None:
    async with staged(cluster, server, tmp_path) as stage:
        with stage.camera():
            async with stage.joined() as anna:
                async with cluster.operator(**stage.settings):
                    await seen(anna)
                await cluster.client.delete(CUSTOM["Project"], cluster.namespace, "show")
                async with cluster.operator(**stage.settings):
                    await gone(anna)
                    await until(lambda: stage.previews() == 0, "it is not wanted any more")


async def test_previews_are_back_with_the_room_server_and_with_the_gateway(
    cluster: OperatedNamespace, tmp_path: Path
) -> None:
    (tmp_path / "rooms").mkdir()
    with room_server(tmp_path / "rooms") as own:
        async with staged(cluster, own, tmp_path) as stage, cluster.operator(**stage.settings):
            with stage.camera():
                async with stage.joined() as anna:
                    await seen(anna)
                own.stop()
                own.start()
                await until(lambda: has_room(own, stage.room), "the operator has made the room anew")
                async with stage.joined() as anna:
                    await seen(anna)
                    stage.pod.kill(stage.pod.gateway)
                    await gone(anna)
                    stage.pod.start_gateway()
                    await seen(anna)
