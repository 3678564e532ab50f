"""A participant of a room without a browser: LiveKit's native client, which publishes nothing."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator

from livekit import rtc


class Member:
    """Somebody in a room; `gone` is set when the server has disconnected them."""

    def __init__(self) -> None:
        self.room = rtc.Room()
        self.gone = asyncio.Event()

    async def disconnected(self, timeout_s: float = 10.0) -> None:
        await asyncio.wait_for(self.gone.wait(), timeout_s)


@contextlib.asynccontextmanager
async def member(url: str, token: str) -> AsyncIterator[Member]:
    """Joins for as long as the context lasts.

    Raises:
        rtc.ConnectError: the room is not to be joined with this token.
    """
    joined = Member()
    joined.room.on("disconnected", lambda *_: joined.gone.set())
    await joined.room.connect(url, token)
    try:
        yield joined
    finally:
        await joined.room.disconnect()
