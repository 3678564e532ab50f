"""Event streams of native gRPC whose clients do not read: what is kept for them, and how they end."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any
from weakref import WeakSet

import pytest
from google.protobuf import json_format
from hypercorn.protocol.h2 import BUFFER_HIGH_WATER
from tests.support.facade import FacadeThread, StartFacade, User
from tests.support.http2_client import MAX_WINDOW_BYTES, WINDOW_BYTES, Http2Client
from tests.support.rpc import frame, frames_of
from tests.support.waiting import until

from onair_api.connection.http2_streams import UnsentResponse
from onair_api.rpc.descriptors import messages_of
from onair_api.settings import EventSettings
from onair_crds.shapes import JsonObject

BACKLOG_BYTES = 100_000
PINGS = 1000
MESSAGE_BYTES = 1100
"""Of a reply to a ping, at most."""
CANCEL = 8
"""Of HTTP/2."""


@pytest.fixture
def native(start_facade: StartFacade) -> Iterator[FacadeThread]:
    events = EventSettings(stalled_after_s=0.5, drain_s=0.1, backlog_bytes=BACKLOG_BYTES)
    with start_facade(listen={"grpc_port": 0}, events=events) as facade:
        yield facade


@pytest.fixture
def host(native: FacadeThread, sign_in: Callable[..., User]) -> User:
    return sign_in(facade=native)


def message(value: JsonObject) -> bytes:
    request = messages_of("apis.event.v2.EventService", "Stream").request()
    return frame(json_format.ParseDict(value, request).SerializeToString())


PING = message({"ping": "x" * 1000})
"""Is replied to by as much."""


RESPONSES: WeakSet[UnsentResponse] = WeakSet()
"""Of this test."""


@pytest.fixture(autouse=True)
def responses(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    begin = UnsentResponse.__init__

    def noted(response: UnsentResponse, *of_it: Any) -> None:
        begin(response, *of_it)
        RESPONSES.add(response)

    monkeypatch.setattr(UnsentResponse, "__init__", noted)
    yield
    RESPONSES.clear()


def kept_bytes(facade: FacadeThread) -> int:
    """What is kept for clients that do not read it."""
    sessions: list[Any] = [*facade.services.events.streams._sessions]
    unsent = sum(len(each.buffer) for each in [*RESPONSES])
    return unsent + int(sum(each.sender._backlog._bytes for each in sessions))


async def unread_stream(facade: FacadeThread, client: Http2Client, token: str) -> int:
    """A stream for which as much is kept as goes out of its backlog, and no more."""
    stream, full = await client.ask(token=token), kept_bytes(facade) + BUFFER_HIGH_WATER
    while (kept := kept_bytes(facade)) < full:
        await client.say(stream, PING)
        await until(lambda kept=kept: kept_bytes(facade) > kept, "it is replied to")  # type: ignore[misc]
    return stream


async def test_a_stream_whose_client_does_not_read_is_bounded_and_cut(
    native: FacadeThread, host: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    streams, settings = native.services.events.streams, native.settings.events
    monkeypatch.setattr(settings, "stalled_after_s", 600.0)
    async with Http2Client(native.server.native, 0) as client:
        await client.open_window(MAX_WINDOW_BYTES - WINDOW_BYTES)
        unread = await client.ask(token=host.token)
        await client.say(unread, *[PING] * PINGS, message({"subscribe": {"name": "*"}}))
        await until(lambda: any(each.subscriptions for each in [*streams._sessions]), "all is replied to")
        assert kept_bytes(native) <= BACKLOG_BYTES + BUFFER_HIGH_WATER + 2 * MESSAGE_BYTES
        read = await client.ask(token=host.token)
        await client.open_window(10 * MESSAGE_BYTES, read)
        await client.say(read, PING)
        await until(lambda: frames_of(bytes(client.received[read])), "another stream is replied to")
        assert streams.open_sessions == 2
        monkeypatch.setattr(settings, "stalled_after_s", 0.5)
        await until(lambda: client.resets == {unread: CANCEL}, "it is cut")
        await until(lambda: streams.open_sessions == 1, "its session is closed")
        await client.say(read, PING)
        await until(lambda: len(frames_of(bytes(client.received[read]))) == 2, "the other goes on")
        assert kept_bytes(native) == 0


async def test_a_stream_whose_client_does_not_read_ends_with_its_token(
    native: FacadeThread, host: User
) -> None:
    """Its backlog is empty until then, so nothing says that it is not read."""
    show = host.project()
    invited = host.ok(
        "POST",
        "/authentication/token/guest",
        {"collectionId": show.collection, "projectId": show.id, "direct": {"displayName": "Ben"}},
    )
    guest = User(native, invited["accessToken"])
    async with Http2Client(native.server.native, 0) as client:
        unread = await unread_stream(native, client, guest.token)
        assert guest.call("PUT", "/authentication/token", {}).is_success
        await until(lambda: client.resets == {unread: CANCEL}, "it is cut")
        await until(lambda: not native.services.events.streams.open_sessions, "its session is closed")


async def test_a_replica_ends_whose_streams_are_not_read(
    start_facade: StartFacade, sign_in: Callable[..., User]
) -> None:
    with start_facade(listen={"grpc_port": 0}) as facade:
        client = Http2Client(facade.server.native, 0)
        await client.__aenter__()
        token = sign_in(facade=facade).token
        for _ in range(3):
            await unread_stream(facade, client, token)
    await client.__aexit__()
