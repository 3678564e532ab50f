"""What counts as sent over WebSocket."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from tests.support.recorded_stream import event_of

from onair_api.event.stream.websocket_connection import WebSocketConnection, WebSocketSender
from onair_api.settings import EventSettings


class WrittenConnection(WebSocketConnection):
    """One without a transport: what is written is kept."""

    def __init__(self) -> None:
        self.close_sent = self.disconnected = self.closing = False
        self.written: list[bytes] = []
        self.transport: Any = SimpleNamespace(write=self.written.append, is_closing=lambda: self.closing)


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
