"""Rooms of projects on a real room server, with nobody but the operator and kubectl."""

from __future__ import annotations

import asyncio
import base64
import datetime as dt
import json
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.support.delivery.livekit_server import KEY, SECRET, LiveKitServer
from tests.support.operated_namespace import OperatedNamespace
from tests.support.rooms.hosted_rooms import HOSTED, room_server
from tests.support.rooms.member import Member, member
from tests.support.waiting import until

from onair_crds.contract.participant_roles import ATTRIBUTE
from onair_crds.contract.room_tokens import livekit_participant, livekit_preview, participant_metadata
from onair_crds.contract.rooms import API_KEY, API_SECRET, RENDERER_PREFIX, SECRET_NAME, SERVER_KEYS
from onair_crds.kube.apis import CUSTOM, SECRETS
from onair_crds.kube.errors import ApiError
from onair_crds.resources.enums import Role
from onair_crds.shapes import Document, JsonObject
from onair_operator.project import next_room as room_plan
from onair_operator.room import kept_rooms
from onair_operator.settings import RoomSettings

pytestmark = pytest.mark.media

GIVEN = {"displayName": "ben", "participantRole": "ROLE_GUEST"}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveKitServer]:
    folder: Path = tmp_path_factory.mktemp("livekit")
    with room_server(folder) as server:
        yield server


@asynccontextmanager
async def operated(operated_namespace: OperatedNamespace, server: LiveKitServer) -> AsyncIterator[None]:
    """An operator that knows the credentials of the test's server."""
    secret = {"metadata": {"name": SECRET_NAME}, "stringData": {API_KEY: KEY, API_SECRET: SECRET}}
    await operated_namespace.client.create(SECRETS, operated_namespace.namespace, secret)
    async with operated_namespace.operator(rooms=RoomSettings(url=server.http_url)):
        yield


async def open_room(operated_namespace: OperatedNamespace, **spec: Any) -> str:
    """A project with an open room; gives the room's name."""
    await operated_namespace.collection()
    project = await operated_namespace.project("Stopped", **HOSTED, room={"state": "Open"}, **spec)
    await room_with(operated_namespace, phase="Open")
    return str(project["metadata"]["uid"])


async def room_with(operated_namespace: OperatedNamespace, **fields: Any) -> Document:
    async def check() -> Document | None:
        room = ((await operated_namespace.get("Project", "show")) or {}).get("status", {}).get("room") or {}
        return room if {name: room.get(name) for name in fields} == fields else None

    return await until(check, f"a room with {fields}")


async def test_a_room_is_opened_its_participants_told_and_closed_by_kubectl(
    operated_namespace: OperatedNamespace, server: LiveKitServer
) -> None:
    async with operated(operated_namespace, server):
        room = await open_room(operated_namespace)
        async with member(server.url, server.token(room, "anna")) as anna:
            told = await room_with(operated_namespace, count=1)
            assert [each["identity"] for each in told["participants"]] == ["anna"]
            assert "emptySince" not in told
            await operated_namespace.patch("Project", "show", {"room": {"state": "Closed"}})
            await anna.disconnected()
        assert (await room_with(operated_namespace, phase="Closed"))["count"] == 0
        await operated_namespace.patch("Project", "show", {"room": {"state": "Open"}})
        assert (await room_with(operated_namespace, phase="Open"))["opening"] == 2


async def test_the_first_participants_and_what_they_publish_are_told(
    operated_namespace: OperatedNamespace, server: LiveKitServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(room_plan, "MAX_SHOWN_PARTICIPANTS", 1)
    monkeypatch.setattr(kept_rooms, "QUIET_PASSES", 1)
    async with operated(operated_namespace, server):
        room = await open_room(operated_namespace)
        async with member(server.url, server.token(room, "anna")) as anna:
            microphone = await anna.publish_microphone()
            async with member(server.url, server.token(room, "ben")):
                (told,) = (await room_with(operated_namespace, count=2))["participants"]
                assert told["identity"] == "anna"
                await until(lambda: _publishes(operated_namespace, "Microphone"), "the microphone is told")
                await anna.room.local_participant.unpublish_track(microphone.sid)
                await until(lambda: _publishes(operated_namespace), "it is no more")


async def test_a_room_that_stays_empty_is_closed_and_opened_again_by_a_new_wish_alone(
    operated_namespace: OperatedNamespace, server: LiveKitServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept_rooms, "QUIET_PASSES", 1)
    async with operated(operated_namespace, server):
        room = await open_room(operated_namespace)
        async with member(server.url, server.token(room, "anna")):
            told = await room_with(operated_namespace, count=1)
            assert "emptySince" not in told
            monkeypatch.setattr(room_plan, "EMPTY_ROOM_S", 4)
        left = await room_with(operated_namespace, count=0, phase="Open")
        assert left["emptySince"]
        assert (await room_with(operated_namespace, phase="Closed"))["wasEmpty"]
        assert await asyncio.to_thread(server.call, "ListRooms", names=[room]) in ({}, {"rooms": []})
        await operated_namespace.patch("Project", "show", {"room": {"state": "Closed"}})
        await room_with(operated_namespace, wasEmpty=None)
        await operated_namespace.patch("Project", "show", {"room": {"state": "Open"}})
        assert (await room_with(operated_namespace, phase="Open"))["opening"] == 2


async def test_a_preview_and_who_watches_unseen_hold_no_room_open(
    operated_namespace: OperatedNamespace, server: LiveKitServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept_rooms, "QUIET_PASSES", 1)
    async with operated(operated_namespace, server), AsyncExitStack() as stay:
        room = await open_room(operated_namespace, sources=[{"sourceId": "source-cam"}])
        async with member(server.url, server.token(room, "anna")):
            preview = livekit_preview(KEY, SECRET, room, "source-cam", "Camera").get_secret_value()
            left = [
                await stay.enter_async_context(member(server.url, token))
                for token in (preview, renderer_token(room))
            ]
            await room_with(operated_namespace, count=3, emptySince=None)
            monkeypatch.setattr(room_plan, "EMPTY_ROOM_S", 4)
        assert (await room_with(operated_namespace, count=2))["emptySince"]
        assert (await room_with(operated_namespace, phase="Closed"))["wasEmpty"]
        for each in left:
            await each.disconnected()


def renderer_token(room: str) -> str:
    """A token of the page that draws a show."""
    return participant_token(room, f"{RENDERER_PREFIX}0", Role.RENDERER)


def participant_token(room: str, identity: str, role: Role) -> str:
    return livekit_participant(
        KEY,
        SECRET,
        room=room,
        identity=identity,
        role=role,
        display_name=identity,
        metadata=participant_metadata(identity, role, {}),
        until=dt.datetime.now(dt.UTC) + dt.timedelta(minutes=5),
        origin="",
    ).get_secret_value()


async def test_rooms_come_back_when_their_server_was_restarted(
    operated_namespace: OperatedNamespace, tmp_path: Path
) -> None:
    with room_server(tmp_path) as own:
        async with operated(operated_namespace, own):
            room = await open_room(operated_namespace)
            own.stop()
            told = await until(lambda: _error(operated_namespace), "it is told")
            assert "room server" in told
            assert own.url not in told
            await asyncio.to_thread(own.start)
            await until(lambda: _no_error(operated_namespace), "the error is gone")
            async with member(own.url, own.token(room, "anna")):
                await room_with(operated_namespace, count=1, phase="Open")


async def test_who_was_removed_is_removed_again_wherever_they_came_in(
    operated_namespace: OperatedNamespace, server: LiveKitServer
) -> None:
    async with operated(operated_namespace, server):
        room = await open_room(operated_namespace)
        async with member(server.url, server.token(room, "eve")) as eve:
            await operated_namespace.patch("Project", "show", {"room": {"barred": [{"identity": "eve"}]}})
            await eve.disconnected()
        await room_with(operated_namespace, count=0)


async def test_whatever_a_guest_makes_of_their_metadata_others_can_rely_on_it(
    operated_namespace: OperatedNamespace, server: LiveKitServer
) -> None:
    async with operated(operated_namespace, server):
        room = await open_room(operated_namespace)
        host = participant_token(room, "anna", Role.HOST)
        guest = participant_token(room, "ben", Role.GUEST)
        async with member(server.url, host) as anna, member(server.url, guest) as ben:
            me = ben.room.local_participant
            given = GIVEN
            await until(lambda: _reads(anna, "ben", given), "Ben is seen")
            await me.set_metadata("no JSON")
            await until(lambda: _reads(anna, "ben", None), "it is seen")
            await until(lambda: _reads(anna, "ben", given), "it is JSON again")
            claimed = {**given, "isMirrored": True, "participantRole": "ROLE_HOST"}
            await me.set_metadata(json.dumps(claimed))
            await until(lambda: _reads(anna, "ben", claimed), "it is seen")
            await until(lambda: _reads(anna, "ben", {**given, "isMirrored": True}), "the role is Ben's")
            await me.set_attributes({ATTRIBUTE: ""})
            await me.set_metadata(json.dumps({**claimed, "displayName": "B"}))
            mirrored = {**given, "isMirrored": True, "displayName": "B"}
            await until(lambda: _reads(anna, "ben", mirrored), "the role is Ben's without a signature")
            host_metadata = {"displayName": "anna", "participantRole": "ROLE_HOST"}
            await until(lambda: _reads(ben, "anna", host_metadata), "Anna's is as it was")


async def test_what_a_guest_says_of_themselves_is_bounded(
    operated_namespace: OperatedNamespace, server: LiveKitServer
) -> None:
    """On a server that lets them say more, as an existing one may."""
    async with operated(operated_namespace, server):
        room = await open_room(operated_namespace)
        guest = participant_token(room, "ben", Role.GUEST)
        async with member(server.url, guest) as ben:
            me = ben.room.local_participant
            role = me.attributes[ATTRIBUTE]
            await me.set_metadata(json.dumps({**GIVEN, "a": "a" * 60_000}))
            await me.set_attributes({str(number): "\x01" * 50 for number in range(1000)})

            def seen() -> Document:
                (found,) = server.call("ListParticipants", room=room)["participants"]
                return {"metadata": json.loads(found["metadata"]), "attributes": found["attributes"]}

            bounded = {"metadata": GIVEN, "attributes": {ATTRIBUTE: role}}
            await until(lambda: seen() == bounded, "it is bounded, and the role is known")


async def _reads(one: Member, other: str, metadata: JsonObject | None) -> bool:
    """Whether one reads this metadata of another; None: none that is JSON."""
    participant = one.room.remote_participants.get(other)
    try:
        return bool(participant and json.loads(participant.metadata) == metadata)
    except ValueError:
        return metadata is None


async def test_a_deleted_projects_room_is_closed(
    operated_namespace: OperatedNamespace, server: LiveKitServer
) -> None:
    async with operated(operated_namespace, server):
        room = await open_room(operated_namespace)
        async with member(server.url, server.token(room, "anna")) as anna:
            await operated_namespace.client.delete(CUSTOM["Project"], operated_namespace.namespace, "show")
            await anna.disconnected()


async def test_another_leader_goes_on_with_the_room(
    operated_namespace: OperatedNamespace, server: LiveKitServer
) -> None:
    async with operated(operated_namespace, server):
        room = await open_room(operated_namespace)
    settings = RoomSettings(url=server.http_url)
    async with (
        member(server.url, server.token(room, "anna")) as anna,
        operated_namespace.operator(rooms=settings),
        operated_namespace.operator(rooms=settings),
    ):
        told = await room_with(operated_namespace, count=1)
        assert told["opening"] == 1
        assert not anna.gone.is_set()


async def test_operators_make_the_built_in_servers_credentials_once(
    operated_namespace: OperatedNamespace, server: LiveKitServer
) -> None:
    settings = RoomSettings(url=server.http_url)
    made = set()
    for _ in range(2):
        async with operated_namespace.operator(rooms=settings), operated_namespace.operator(rooms=settings):
            data = await until(lambda: _credentials(operated_namespace), "the Secret")
            values = {name: base64.b64decode(value).decode() for name, value in data.items()}
            assert values[SERVER_KEYS] == f"{values[API_KEY]}: {values[API_SECRET]}"
            assert len(values[API_SECRET]) >= 32
            made.add(values[SERVER_KEYS])
    assert len(made) == 1


async def _publishes(operated_namespace: OperatedNamespace, *sources: str) -> bool:
    (told,) = (await room_with(operated_namespace, phase="Open"))["participants"]
    return bool(told.get("publishing", []) == [*sources])


async def _credentials(operated_namespace: OperatedNamespace) -> dict[str, str] | None:
    try:
        secret = await operated_namespace.client.get(SECRETS, operated_namespace.namespace, SECRET_NAME)
    except ApiError:
        return None
    data: dict[str, str] = secret["data"]
    return data


async def _error(operated_namespace: OperatedNamespace) -> str:
    status = ((await operated_namespace.get("Project", "show")) or {}).get("status", {})
    return str((status.get("room") or {}).get("error") or "")


async def _no_error(operated_namespace: OperatedNamespace) -> bool:
    return not await _error(operated_namespace)
