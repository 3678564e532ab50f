"""What counts as sent over WebSocket."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest
from tests.support.recorded_stream import event_of
from tests.support.waiting import until
from uvicorn import Config
from uvicorn.server import ServerState

from onair_api.event.stream.websocket_connection import WebSocketConnection, WebSocketSender
from onair_api.settings import EventSettings


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

    def __init__(self) -> None:
        super().__init__(Config(no_application, log_level="warning"), ServerState(), {})
        self.transport_closed = False

        def close() -> None:
            self.transport_closed = True

        self.connections.add(self)
        self.transport: Any = SimpleNamespace(
            write=lambda _: None, close=close, is_closing=lambda: self.transport_closed
        )


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
