"""How long the requests of a WebSocket are read, and how fast."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any, cast

import pytest

from onair_api.event.stream.websocket import WebSocketStreams


class ReadStream:
    """A stream whose messages a test gives; those with `refused` in them are refused."""

    def __init__(self, *messages: str) -> None:
        self.session = SimpleNamespace(closed=False)
        self.connection = SimpleNamespace(close_sent=False, is_open=True)
        self.left = [*messages]
        self.taken: list[str] = []
        self.pauses = 0
        nothing = cast(Any, None)
        requests = cast(Any, SimpleNamespace(pause=self._pause))
        self.streams = WebSocketStreams(nothing, nothing, nothing, requests)
        self.streams._incoming = cast(Any, SimpleNamespace(take=self._take))

    async def read(self) -> None:
        await self.streams._handle_messages(
            cast(Any, self.session), cast(Any, self.connection), cast(Any, self._receive)
        )

    async def _receive(self) -> dict[str, object]:
        if not self.left:
            return {"type": "websocket.disconnect", "code": 1000}
        self._text = self.left.pop(0)
        return {"type": "websocket.receive", "text": self._text}

    async def _take(self, *_: object) -> bool:
        self.taken.append(self._text)
        return "refused" not in self._text

    async def _pause(self, _: object) -> None:
        self.pauses += 1


async def test_what_came_before_the_client_disconnected_is_handled() -> None:
    stream = ReadStream("a", "b")
    stream.connection.is_open = False
    await stream.read()
    assert stream.taken == ["a", "b"]
    assert stream.pauses == 0


async def test_after_each_refusal_reading_pauses() -> None:
    stream = ReadStream("a", "refused", "refused", "b")
    await stream.read()
    assert stream.taken == ["a", "refused", "refused", "b"]
    assert stream.pauses == 2


async def test_of_a_client_that_has_disconnected_nothing_is_read_beyond_its_rate() -> None:
    stream = ReadStream("a", "refused", "b")
    stream.connection.is_open = False
    await stream.read()
    assert stream.taken == ["a", "refused"]
    assert stream.pauses == 0


@pytest.mark.parametrize("ended", ["closed", "close_sent"])
async def test_nothing_is_handled_once_a_stream_has_ended(ended: str) -> None:
    stream = ReadStream("a")
    setattr(stream.session if ended == "closed" else stream.connection, ended, True)
    async with asyncio.timeout(5):
        await stream.read()
    assert stream.taken == []
