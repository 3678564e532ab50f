"""Closed sessions in Redis. Those that are stored and taken at once share round trips, in their order.

When an ingress restarts, thousands of streams close and return in the same second. With a command for each,
most would wait for longer than their clients take to come back.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

from redis.asyncio import Redis

RESPONSE_TIMEOUT_S = 1.0
TOGETHER = 50
"""So many share a round trip at most: a session is some 100 bytes for each of its subscriptions."""

EXCHANGE = """
local results = {}
for i, key in ipairs(KEYS) do
  local text, keep_ms = ARGV[2 * i - 1], tonumber(ARGV[2 * i])
  local left_ms = redis.call('PTTL', key)
  if text == '' then
    results[i] = {redis.call('GETDEL', key), left_ms}
  elseif left_ms > keep_ms then
    results[i] = {'OK', left_ms}
  else
    local stored = redis.pcall('SET', key, text, 'PX', keep_ms)
    results[i] = {stored.ok or false, keep_ms}
  end
end
return results
"""
"""KEYS: sessions. ARGV: for each its text, for how many milliseconds it is kept yet; no text: it is taken.
Returns for each the text that was taken, and for how long that was kept yet; or whether it is stored, or one
that closed later.
"""


class SessionText(NamedTuple):
    """What is stored of a session."""

    text: bytes
    left_ms: int
    """For how long it is kept yet: the longer, the later it closed."""


TAKEN = SessionText(b"", 0)


@dataclass(slots=True)
class _Request:
    key: str
    what: Callable[[], SessionText | None]
    done: asyncio.Future[Any]


class RedisSessions:
    """Stores and takes sessions, one round trip after another."""

    def __init__(self, redis: Redis, connected: Callable[[], bool]) -> None:
        self._exchange = redis.register_script(EXCHANGE)
        self._connected = connected
        self._requests: deque[_Request] = deque()
        self._working: asyncio.Task[None] | None = None

    async def store(self, key: str, what: Callable[[], SessionText | None]) -> None:
        """Stores a session, unless one that closed later is there.

        Args:
            what: asked once it is this session's turn; None: it needs not be stored any more.

        Raises:
            OSError: it was not, as far as is known.
        """
        stored, _ = await self._ask(key, what)
        if not stored:
            raise ConnectionRefusedError("refused")

    async def take(self, key: str) -> SessionText | None:
        """Removes a session and returns it, if there is one.

        Raises:
            OSError: whether there is one is unknown.
        """
        text, left_ms = await self._ask(key, lambda: TAKEN)
        return SessionText(text, left_ms) if text else None

    async def _ask(self, key: str, what: Callable[[], SessionText | None]) -> Any:
        if not self._connected():
            raise ConnectionError("unreachable")
        request = _Request(key, what, asyncio.get_running_loop().create_future())
        self._requests.append(request)
        if self._working is None or self._working.done():
            self._working = asyncio.create_task(self._work())
        return await request.done

    async def _work(self) -> None:
        while self._requests:
            together = [self._requests.popleft() for _ in range(min(TOGETHER, len(self._requests)))]
            try:
                await self._send(together)
            except Exception as error:  # noqa: BLE001 - whatever a Redis client raises is for who asked
                for each in together:
                    if not each.done.done():
                        # Each its own: one that many raise holds the frames, and so the sessions, of all
                        each.done.set_exception(ConnectionError(type(error).__name__))

    async def _send(self, together: list[_Request]) -> None:
        if not self._connected():
            raise ConnectionError
        asked: list[_Request] = []
        arguments: list[bytes | int] = []
        for each in together:
            # One that is done has given up
            what = None if each.done.done() else each.what()
            if what is not None:
                asked.append(each)
                arguments += what
            elif not each.done.done():
                each.done.set_result((True, 0))
        if not asked:
            return
        results = await self._exchange(keys=[each.key for each in asked], args=arguments)
        for each, result in zip(asked, results, strict=True):
            if not each.done.done():
                each.done.set_result(result)
