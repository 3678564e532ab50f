"""Requests of native gRPC that do not arrive, and streams whose clients do not read; of real connections."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from google.protobuf import json_format
from tests.support.http2_client import (
    EVENT_STREAM,
    FRAME_BYTES,
    MAX_WINDOW_BYTES,
    WINDOW_BYTES,
    Http2Client,
    serving,
)
from tests.support.recorded_stream import event_of
from tests.support.rpc import frame, frames_of
from tests.support.rpc_door import IDS, PATH, ScriptedProjects, operation, request
from tests.support.waiting import TIMEOUT_S, until

from onair_api.access.audiences import Visibility
from onair_api.auth.callers import ByAnybody, Callers
from onair_api.auth.identity import Identity
from onair_api.event.event import dumps, result_message
from onair_api.event.operations import EVENTS
from onair_api.event.stream.message_stream import MessageStreams
from onair_api.event.stream.sender import Sender
from onair_api.event.stream.session import Session
from onair_api.operation import StreamOperation
from onair_api.rpc import native
from onair_api.rpc.descriptors import messages_of
from onair_api.rpc.door import Door
from onair_api.rpc.method import Method
from onair_api.rpc.stream import StreamMethod
from onair_api.settings import LimitSettings, Settings
from onair_crds.resources.enums import Role

PING = frame(
    json_format.ParseDict(
        {"ping": "hello"}, messages_of("apis.event.v2.EventService", "Stream").request()
    ).SerializeToString()
)
GET = frame(request(**IDS))
LARGE = frame(bytes(1_000_000))
PATHS = (PATH, EVENT_STREAM)
PARTS = {"nothing": b"", "one byte": b"\0", "only its length": LARGE[:5], "all but one byte": LARGE[:-1]}


class OpenSessions:
    """The sessions of event streams, which are told how many messages their clients have sent."""

    def __init__(self) -> None:
        self.open_: list[Session] = []

    async def open(self, _: object, session_id: str, sender: Sender) -> Session:
        identity = Identity("s", "u", "u", Role.HOST, ())
        session = Session(session_id, identity, Visibility("u", (), sees_layouts=True), "token", sender)
        self.open_.append(session)
        return session

    async def close(self, session: Session) -> None:
        session.closed = True
        self.open_.remove(session)

    async def take(self, session: Session, decode: Callable[[], object]) -> bool:
        decode()
        session.reply(None, "pong", dumps("hello"))
        return True


@pytest.fixture
def sessions() -> OpenSessions:
    return OpenSessions()


@pytest.fixture
def door(projects: ScriptedProjects, sessions: Any) -> Door:
    async def admit(_: object) -> None: ...

    limits, admission = LimitSettings(), SimpleNamespace(admit=admit)
    callers = Callers(None, None, None)  # type: ignore[arg-type]
    (stream,) = (each for each in EVENTS if isinstance(each, StreamOperation))
    streams = MessageStreams(Settings(), admission, sessions, sessions)  # type: ignore[arg-type]
    return Door(
        [
            Method(operation(ByAnybody()), projects, callers, limits, {}),
            StreamMethod(stream, streams, limits),
        ],
        limits,
    )


@pytest.mark.parametrize(
    ("path", "said"),
    [
        *(pytest.param(path, said, id=f"{path} {name}") for path in PATHS for name, said in PARTS.items()),
        pytest.param(PATH, GET, id=f"{PATH} without an end"),
    ],
)
async def test_a_request_that_does_not_arrive_is_cut(
    door: Door, sessions: OpenSessions, monkeypatch: pytest.MonkeyPatch, path: str, said: bytes
) -> None:
    monkeypatch.setattr(native, "REQUEST_TIMEOUT_S", 0.3)
    async with serving(door) as server, Http2Client(server) as client:
        asked = await client.ask(path)
        for start in range(0, len(said), FRAME_BYTES):
            if asked not in client.resets:
                await client.say(asked, said[start : start + FRAME_BYTES])
        await until(lambda: client.resets == {asked: 8}, "it is cut")
        await until(lambda: not sessions.open_, "its session is closed")
        await client.roundtrip()
        assert not client.is_closed


@pytest.mark.parametrize("path", PATHS)
async def test_a_request_that_never_falls_silent_is_cut(
    door: Door, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    monkeypatch.setattr(native, "REQUEST_TIMEOUT_S", 0.3)
    async with serving(door) as server, Http2Client(server) as client, asyncio.timeout(TIMEOUT_S):
        asked = await client.ask(path)
        await client.say(asked, LARGE[:5])
        while asked not in client.resets:
            await client.say(asked, b"\0")
            await client.roundtrip()


async def test_a_stream_may_be_silent_after_its_first_message(
    door: Door, sessions: OpenSessions, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(native, "REQUEST_TIMEOUT_S", 2.0)
    async with serving(door) as server, Http2Client(server) as client:
        stream = await client.ask(EVENT_STREAM)
        for start in range(len(PING)):
            await client.say(stream, PING[start : start + 1])
        await until(lambda: client.received[stream], "it is replied to")
        later = await client.ask(EVENT_STREAM)
        await until(lambda: client.resets == {later: 8}, "who has sent nothing since is cut")
        await client.say(stream, PING)
        await until(lambda: len(frames_of(bytes(client.received[stream]))) == 2, "it goes on")
        assert len(sessions.open_) == 1


async def test_what_a_client_goes_on_to_send_does_not_keep_its_stream_open(
    door: Door, sessions: OpenSessions, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with serving(door) as server, Http2Client(server) as client, asyncio.timeout(TIMEOUT_S):
        stream = await client.ask(EVENT_STREAM)
        await client.say(stream, PING)
        await until(lambda: client.received[stream], "it is replied to")
        monkeypatch.setattr(native, "REQUEST_TIMEOUT_S", 0.3)
        sessions.open_[0].sender.end(1000, "")
        while stream not in client.completed:
            await client.say(stream, PING)
            await client.roundtrip()
        asked = await client.ask(PATH, GET)
        await until(lambda: asked in client.completed, "the connection serves others")
        assert client.received[asked]


async def test_an_event_stream_whose_client_does_not_read_waits_and_is_cut(
    door: Door, sessions: OpenSessions
) -> None:
    """What waits is in its backlog, which is bounded, and not sent."""
    async with serving(door) as server, Http2Client(server, 0) as client:
        stream = await client.ask(EVENT_STREAM)
        await client.open_window(MAX_WINDOW_BYTES - WINDOW_BYTES)
        await until(lambda: sessions.open_, "it is open")
        sender = sessions.open_[0].sender
        for number in range(100):
            message = result_message({"pong": dumps("x" * 10_000)})
            sender.push(sender.format.frame(message), event_of(str(number)))
        await until(lambda: sender.stalled_s(time.monotonic()) > 0.1, "it waits")
        sender.abort()
        await until(lambda: not sessions.open_, "its session is closed")
        unsent = [int(each.name) for each in sender.withdraw().events]
        assert unsent == list(range(unsent[0], 100))
        # Two frames of HTTP/2 are on their way to it
        assert unsent[0] <= 4
        await until(lambda: client.resets == {stream: 8}, "its client is told")
        asked = await client.ask(PATH, GET)
        await client.open_window(1000, asked)
        await until(lambda: asked in client.completed, "the connection serves others")


async def test_a_server_ends_whose_streams_are_not_read(door: Door, sessions: OpenSessions) -> None:
    async with serving(door) as server, Http2Client(server, 0) as client:
        for _ in range(3):
            await client.ask(EVENT_STREAM)
        await until(lambda: len(sessions.open_) == 3, "they are open")
        for session in sessions.open_:
            for _ in range(100):
                session.reply(None, "pong", dumps("x" * 10_000))
        senders = [each.sender for each in sessions.open_]
        await until(lambda: all(each.stalled_s(time.monotonic()) > 0 for each in senders), "they wait")
        async with asyncio.timeout(TIMEOUT_S):
            await server.stop()
        assert not sessions.open_
