"""What counts as sent over WebSocket."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest
from tests.support.recorded_stream import event_of
from tests.support.waiting import until
from uvicorn import Config
from uvicorn.protocols.utils import ClientDisconnected
from uvicorn.server import ServerState

from onair_api.connection.http_connection import EXTENSION
from onair_api.event.stream import websocket_connection
from onair_api.event.stream.websocket_connection import WebSocketConnection, WebSocketSender
from onair_api.settings import EventSettings

MANY = 200
"""Messages in one read: several pieces."""
UPGRADE = b"\r\n".join(
    [
        *(b"GET /event/v2/stream HTTP/1.1", b"Host: onair", b"Connection: Upgrade", b"Upgrade: websocket"),
        *(b"Sec-WebSocket-Version: 13", b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==", b"", b""),
    ]
)


def frame(message: bytes) -> bytes:
    """A short text message of a client, masked with zeros."""
    return b"\x81" + bytes([0x80 | len(message)]) + b"\0\0\0\0" + message


class WrittenConnection(WebSocketConnection):
    """One without a transport: what is written is kept."""

    def __init__(self) -> None:
        self.close_sent = self.disconnected = self.closing = False
        self.written: list[bytes] = []
        self.transport: Any = SimpleNamespace(write=self.written.append, is_closing=lambda: self.closing)


async def no_application(scope: object, receive: object, send: object) -> None:
    pytest.fail("nobody upgrades to a WebSocket here")


class MadeConnection(WebSocketConnection):
    """One as uvicorn makes it, whose transport ends nothing."""

    def __init__(self, application: Any = no_application) -> None:
        super().__init__(Config(application, log_level="warning"), ServerState(), {})
        self.transport_closed = self.is_lost = False
        self.is_reading = True

        def close() -> None:
            self.transport_closed = True

        def pause_reading() -> None:
            assert self.is_reading
            self.is_reading = False

        def resume_reading() -> None:
            assert not self.is_reading
            assert not self.transport_closed
            self.is_reading = True

        def write(_: bytes) -> None:
            if self.is_lost:
                raise RuntimeError("the handler is closed")

        self.connections.add(self)
        self.transport: Any = SimpleNamespace(
            write=write,
            close=close,
            abort=close,
            is_closing=lambda: self.transport_closed,
            pause_reading=pause_reading,
            resume_reading=resume_reading,
        )

    def lose(self) -> None:
        """As a transport does whose peer has gone."""
        self.transport_closed = self.is_lost = True
        self.connection_lost(None)


class Taker:
    """An application that takes messages one at a time, each once it is let."""

    def __init__(self, taken_at_most: float = float("inf")) -> None:
        self.taken: list[str] = []
        self.may_take = asyncio.Semaphore(0)
        self.ended = False
        self._most = taken_at_most

    async def __call__(self, scope: object, receive: Any, send: Any) -> None:
        await receive()
        await send({"type": "websocket.accept"})
        while len(self.taken) < self._most:
            await self.may_take.acquire()
            message = await receive()
            if message["type"] == "websocket.disconnect":
                self.ended = True
                return
            self.taken.append(message["text"])


async def opened(application: Taker) -> MadeConnection:
    connection = MadeConnection(application)
    connection.data_received(UPGRADE)
    await until(lambda: connection.handshake_complete)
    return connection


def numbered(count: int) -> list[str]:
    return [f"{number:0100}" for number in range(count)]


def frames_of(messages: list[str]) -> bytes:
    return b"".join(frame(each.encode()) for each in messages)


@pytest.fixture
def connection() -> WrittenConnection:
    return WrittenConnection()


@pytest.fixture
def sender(connection: WrittenConnection) -> WebSocketSender:
    made = WebSocketSender(connection, EventSettings())
    made.loss_message = lambda: b"LOST"
    return made


@pytest.mark.parametrize("ended", ["close_sent", "disconnected", "closing"])
def test_what_comes_after_the_end_of_a_connection_is_not_sent(
    connection: WrittenConnection, sender: WebSocketSender, ended: str
) -> None:
    sender.push(b"a", event_of("a"))
    connection.can_write = False
    sender.push(b"b", event_of("b"))
    setattr(connection, ended, True)
    connection.can_write = True
    assert connection.on_writable
    connection.on_writable()
    sender.push(b"c", event_of("c"))
    assert connection.written == [b"a"]
    assert [event.name for event in sender.withdraw().events] == ["b", "c"]


async def test_a_reply_to_a_ping_is_waited_for_while_nothing_is_read() -> None:
    connection = MadeConnection()
    connection.ping_timeout, connection.read_paused = 0.01, True
    connection.keepalive_timeout()
    await asyncio.sleep(0.05)
    assert not connection.transport_closed
    connection.read_paused = False
    await until(lambda: connection.transport_closed)


async def test_of_a_connection_that_is_lost_no_part_of_a_message_is_kept() -> None:
    connection = MadeConnection()
    connection.conn.reader.feed_data(b"half of a frame")
    connection.frames.append(b"half of a message")
    connection.connection_lost(ConnectionResetError())
    assert not connection.conn.reader.buffer
    assert not connection.frames
    assert (await connection.queue.get())["type"] == "websocket.disconnect"


async def test_no_more_is_parsed_at_once_than_a_piece_and_all_is_taken_in_order() -> None:
    taker = Taker()
    connection = await opened(taker)
    connection.data_received(frames_of(numbered(MANY)))
    assert 0 < connection.queue.qsize() < MANY / 4
    assert not connection.is_reading
    for _ in range(MANY):
        taker.may_take.release()
    await until(lambda: len(taker.taken) == MANY)
    assert taker.taken == numbered(MANY)
    await until(lambda: connection.is_reading)


async def test_nothing_is_received_while_a_message_is_not_taken() -> None:
    taker = Taker()
    connection = await opened(taker)
    connection.data_received(frames_of(numbered(1)))
    assert not connection.is_reading
    taker.may_take.release()
    await until(lambda: connection.is_reading)


async def test_a_message_that_comes_in_parts_is_read_on() -> None:
    taker = Taker()
    connection = await opened(taker)
    whole = frames_of(numbered(MANY))
    for _ in range(MANY):
        taker.may_take.release()
    for at in range(0, len(whole), 700):
        connection.data_received(whole[at : at + 700])
        await until(lambda: connection.is_reading)
    await until(lambda: len(taker.taken) == MANY)
    assert taker.taken == numbered(MANY)


async def test_what_was_sent_before_the_end_is_handled_before_it() -> None:
    taker = Taker()
    connection = await opened(taker)
    connection.data_received(frames_of(numbered(MANY)))
    connection.lose()
    assert connection not in connection.connections
    for _ in range(MANY + 1):
        taker.may_take.release()
    await until(lambda: taker.ended)
    assert taker.taken == numbered(MANY)


async def test_pings_before_the_end_keep_nobody_from_it() -> None:
    taker = Taker()
    connection = await opened(taker)
    ping = b"\x89\x80\0\0\0\0"
    connection.data_received(b"".join(ping + each for each in [frames_of(numbered(1))] * MANY))
    connection.lose()
    for _ in range(MANY + 1):
        taker.may_take.release()
    await until(lambda: taker.ended)
    assert len(taker.taken) == MANY


async def test_what_is_no_frame_before_the_end_is_no_error_of_ours(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    unexpected: list[object] = []
    monkeypatch.setattr(websocket_connection, "log_unexpected", lambda *said: unexpected.append(said))
    taker = Taker()
    connection = await opened(taker)
    connection.data_received(frames_of(numbered(MANY)) + b"\xff" * 100 + frames_of(numbered(MANY)))
    connection.lose()
    for _ in range(MANY + 1):
        taker.may_take.release()
    await until(lambda: taker.ended)
    assert taker.taken == numbered(MANY)[: len(taker.taken)]
    assert len(taker.taken) > MANY / 2, "but for those of its piece"
    assert not unexpected


async def test_what_was_received_is_handled_though_replies_fail() -> None:
    """A transport is closing from then on, and says later that the connection was lost."""
    taker = Taker()
    connection = await opened(taker)
    connection.data_received(frames_of(numbered(MANY)))
    connection.transport_closed = True
    for _ in range(MANY // 2):
        taker.may_take.release()
    await until(lambda: len(taker.taken) == MANY // 2)
    connection.lose()
    for _ in range(MANY):
        taker.may_take.release()
    await until(lambda: taker.ended)
    assert taker.taken == numbered(MANY)


async def test_nothing_is_kept_of_a_rest_that_nobody_takes() -> None:
    taker = Taker(taken_at_most=1)
    connection = await opened(taker)
    connection.data_received(frames_of(numbered(MANY)))
    connection.lose()
    taker.may_take.release()
    await until(lambda: not connection.tasks)
    assert not connection._unread
    assert EXTENSION not in connection.scope["extensions"], "no circle, either"


async def test_who_waits_to_send_learns_of_the_end_whatever_is_left() -> None:
    taker = Taker()
    connection = await opened(taker)
    connection.data_received(frames_of(numbered(MANY)))
    connection.pause_writing()
    sending = asyncio.ensure_future(connection.send({"type": "websocket.send", "text": "late"}))
    await asyncio.sleep(0)
    connection.lose()
    with pytest.raises(ClientDisconnected):
        await sending


async def test_a_peer_that_reads_nothing_gets_no_replies_to_its_pings() -> None:
    connection = await opened(Taker())
    written: list[bytes] = []
    connection.transport.write = written.append
    connection.data_received(b"\x89\x80\0\0\0\0")
    assert written == [b"\x8a\0"]
    connection.pause_writing()
    for _ in range(MANY):
        connection.data_received(b"\x89\x80\0\0\0\0")
    await until(lambda: not connection._unread)
    connection.resume_writing()
    connection.data_received(b"\x89\x80\0\0\0\0")
    await until(lambda: not connection._unread)
    assert written == [b"\x8a\0"] * 2


async def test_messages_that_are_not_taken_keep_nobody_from_the_peers_end_after_our_close() -> None:
    connection = await opened(Taker())
    connection.data_received(frames_of(numbered(2)))
    await connection.send({"type": "websocket.close", "code": 1000, "reason": ""})
    connection.data_received(frames_of(numbered(MANY)))
    await until(lambda: connection.is_reading)
    connection.data_received(b"\x88\x82\0\0\0\0\x03\xe8")
    await until(lambda: connection.transport_closed)
    assert connection.close_timer is None


async def test_what_comes_after_our_close_is_read_to_the_end_of_the_peers() -> None:
    taker = Taker()
    connection = await opened(taker)
    connection.data_received(frames_of(numbered(MANY)) + b"\x88\x82\0\0\0\0\x03\xe8")
    await connection.send({"type": "websocket.close", "code": 1000, "reason": ""})
    assert connection.close_timer
    await until(lambda: connection.transport_closed)
    assert connection.close_timer is None, "it did not have to be waited for"
