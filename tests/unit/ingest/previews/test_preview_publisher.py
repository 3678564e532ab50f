"""A preview's process leaves its room, and ends, whenever its preview is cancelled."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import cast

import pytest
from tests.support.waiting import until

from onair_crds.contract.program import ProgramRtc
from onair_crds.room_publisher.pipe import Gone, Joined, Message, SessionProgress
from onair_crds.room_publisher.room_client import RoomClient
from onair_crds.session_error import SessionError
from onair_ingest.mediamtx.rtmp_player import MediaServer
from onair_ingest.previews import preview_publisher
from onair_ingest.previews.preview_publisher import PreviewPublisher
from onair_ingest.previews.turns import Turns
from onair_ingest.readers.readers import Readers
from onair_ingest.readers.stream_feed import FeedEnded, ReaderQueue

ROOM = ProgramRtc(provider="livekit", url="ws://rooms", token="t", room="r", identity="i")


class SlowRoomClient:
    """Has joined, says nothing, and takes a while to stop being listened to."""

    unsent = 0

    def __init__(self) -> None:
        self.calls: list[str] = []
        self._joined = False
        self.publishing, self.left, self.finishing = (asyncio.Event() for _ in range(3))

    async def message(self) -> Message:
        if not self._joined:
            self._joined = True
            return Joined()
        self.publishing.set()
        try:
            await asyncio.Event().wait()
        finally:
            self.left.set()
            await asyncio.sleep(0.05)
        raise AssertionError("never")

    def write(self, data: bytes) -> None:
        pass

    async def finish(self) -> None:
        self.calls.append("finish")
        self.finishing.set()
        await asyncio.sleep(0.05)
        self.calls.append("left")

    async def close(self) -> None:
        self.calls.append("close")


@pytest.mark.parametrize(
    "cancelled", ["while it publishes", "while its stream ends", "while its process ends"]
)
async def test_the_process_leaves_and_ends_whenever_its_preview_is_cancelled(
    cancelled: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = SlowRoomClient()

    async def start(*_: object, **__: object) -> SlowRoomClient:
        return client

    monkeypatch.setattr(RoomClient, "start", start)
    subscription = ReaderQueue([])
    turns = Turns(asyncio.Semaphore(1), asyncio.Semaphore(1), lambda: None)
    publishing = asyncio.create_task(
        PreviewPublisher("s", ROOM, object.__new__(Readers), turns, lambda _: None)._publish(subscription)
    )
    await client.publishing.wait()
    if cancelled != "while it publishes":
        subscription.end(FeedEnded(4000, "it ended"))
        await client.left.wait()
    if cancelled == "while its process ends":
        await client.finishing.wait()
    publishing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await publishing
    assert client.calls == ["finish", "left", "close"]


class CountingRoomClient:
    """Reports what has come back so far, a hundred times a second; the last again and again."""

    def __init__(self, responses: list[int]) -> None:
        self._responses = responses

    async def message(self) -> Message:
        await asyncio.sleep(0.01)
        responses = self._responses.pop(0) if len(self._responses) > 1 else self._responses[0]
        return SessionProgress(responses=responses)


@pytest.mark.parametrize(
    ("responses", "stalls"),
    [
        ([*range(1000, 1010), 0, 0, *range(1, 100)], False),
        ([*range(1000, 1010), *[1010] * 60], True),
        ([*range(1000, 1010), *[0] * 60], True),
    ],
    ids=["resumed by the library, which counts anew", "silent", "not connected"],
)
async def test_a_session_ends_once_nothing_comes_back(
    responses: list[int], stalls: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(preview_publisher, "STALLED_S", 0.3)
    client = cast("RoomClient", CountingRoomClient(responses))
    with pytest.raises(SessionError if stalls else TimeoutError):
        async with asyncio.timeout(0.8):
            await preview_publisher._watch(client)


class QueuedRoomClient:
    """Reports what the test puts into it."""

    def __init__(self) -> None:
        self.reported = asyncio.Queue[Message]()

    async def message(self) -> Message:
        return await self.reported.get()


@pytest.mark.parametrize("turns", range(6))
async def test_a_cancellation_is_not_lost_where_a_message_comes_at_the_same_moment(turns: int) -> None:
    client = QueuedRoomClient()
    watching = asyncio.create_task(preview_publisher._watch(cast("RoomClient", client)))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    client.reported.put_nowait(SessionProgress(responses=1))
    for _ in range(turns):
        await asyncio.sleep(0)
    watching.cancel()
    await asyncio.wait([watching], timeout=1)
    assert watching.cancelled()


async def test_a_message_counts_that_came_while_this_process_stood_still(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(preview_publisher, "SILENT_S", 0.1)
    client, loop = QueuedRoomClient(), asyncio.get_running_loop()
    watching = asyncio.create_task(preview_publisher._watch(cast("RoomClient", client)))
    loop.call_later(0.05, time.sleep, 0.2)
    loop.call_later(0.09, client.reported.put_nowait, SessionProgress(responses=1))
    await asyncio.sleep(0.3)
    assert not watching.done()
    with pytest.raises(SessionError, match="does not respond"):
        await watching


class RefusedReaders:
    """Of a stream that is published, and that the server does not play."""

    @asynccontextmanager
    async def subscription(self, _: str) -> AsyncIterator[ReaderQueue]:
        subscription = ReaderQueue([])
        subscription.end(FeedEnded(4000, "it is not played"))
        yield subscription


async def test_sessions_for_a_stream_without_media_come_less_and_less_often(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pauses: list[float] = []
    begun = 0

    async def start(*_: object, **__: object) -> SlowRoomClient:
        nonlocal begun
        begun += 1
        return SlowRoomClient()

    async def paused(pause_s: float) -> float:
        assert not publisher.joined, "it has left"
        pauses.append(pause_s)
        if len(pauses) == 3:
            raise asyncio.CancelledError
        return 2 * pause_s

    monkeypatch.setattr(RoomClient, "start", start)
    monkeypatch.setattr(preview_publisher, "_paused", paused)
    turns = Turns(asyncio.Semaphore(1), asyncio.Semaphore(1), lambda: None)
    publisher = PreviewPublisher("s", ROOM, cast("Readers", RefusedReaders()), turns, lambda _: None)
    with pytest.raises(asyncio.CancelledError):
        await publisher.run()
    first = preview_publisher.FIRST_PAUSE_S
    assert (pauses, begun) == ([first, 2 * first, 4 * first], 3)


async def test_what_no_page_decodes_takes_no_session(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = 0

    def undecodable(_: str) -> str:
        nonlocal asked
        asked += 1
        return "it has H265"

    async def start(*_: object, **__: object) -> SlowRoomClient:
        pytest.fail("a session begins")

    monkeypatch.setattr(RoomClient, "start", start)
    monkeypatch.setattr(preview_publisher, "NO_STREAM_S", 0.001)
    readers = Readers(
        lambda _: "live/key", undecodable, lambda _: None, MediaServer("127.0.0.1", 1), linger_s=5.0
    )
    running = asyncio.Semaphore(1)
    turns = Turns(running, asyncio.Semaphore(1), lambda: None)
    publishing = asyncio.create_task(PreviewPublisher("s", ROOM, readers, turns, lambda _: None).run())
    await until(lambda: asked > 3, "it looks for something else")
    assert not publishing.done()
    publishing.cancel()
    await asyncio.gather(publishing, return_exceptions=True)
    assert not running.locked()


class UndecodingRoomClient(SlowRoomClient):
    """Has joined, and cannot decode what it is given."""

    def __init__(self) -> None:
        super().__init__()
        self._messages: list[Message] = [Joined(), Gone("the video cannot be decoded")]

    async def message(self) -> Message:
        return self._messages.pop(0)


class EndlessReaders:
    """Of a stream that goes on."""

    @asynccontextmanager
    async def subscription(self, _: str) -> AsyncIterator[ReaderQueue]:
        yield ReaderQueue([])


@pytest.mark.parametrize("short_s", [60.0, -1.0])
async def test_sessions_that_soon_fail_come_less_and_less_often(
    short_s: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    pauses: list[float] = []

    async def start(*_: object, **__: object) -> UndecodingRoomClient:
        return UndecodingRoomClient()

    async def paused(pause_s: float) -> float:
        pauses.append(pause_s)
        if len(pauses) == 3:
            raise asyncio.CancelledError
        return 2 * pause_s

    monkeypatch.setattr(RoomClient, "start", start)
    monkeypatch.setattr(preview_publisher, "_paused", paused)
    monkeypatch.setattr(preview_publisher, "SHORT_S", short_s)
    turns = Turns(asyncio.Semaphore(1), asyncio.Semaphore(1), lambda: None)
    publisher = PreviewPublisher("s", ROOM, cast("Readers", EndlessReaders()), turns, lambda _: None)
    with pytest.raises(asyncio.CancelledError):
        await publisher.run()
    first = preview_publisher.FIRST_PAUSE_S
    assert pauses == ([first, 2 * first, 4 * first] if short_s > 0 else [first / 2] * 3)
