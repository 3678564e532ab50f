"""Reads what Redis keeps of a channel's last minute, in pages.

A page takes Redis, and this process, a few milliseconds; all that are being read take turns, so a channel
with much in it delays others little. A page that fails is read again: a slow Redis is not a dead one, and
only the link to it can tell.
"""

from __future__ import annotations

import asyncio
import random
import secrets
from collections import deque
from collections.abc import AsyncIterator, Iterator
from typing import NamedTuple

import structlog
from redis.asyncio import Redis
from redis.exceptions import RedisError

from onair_api.event.custom import scripts
from onair_api.event.custom.redis_message import number_of
from onair_crds.backoff import backoff_s

log = structlog.get_logger()

PAGE = 250
"""Messages."""
BACKOFF_INITIAL_S = 0.1
BACKOFF_MAX_S = 2.0


class RecentPage(NamedTuple):
    """Consecutive messages of a channel."""

    epoch: str
    last: int
    """The latest number that Redis has given to a message of any channel."""
    floor: int
    """The number up to which messages are gone."""
    messages: list[tuple[bytes, int]]
    """With their ages in milliseconds."""
    is_last: bool


class EarlyMessages:
    """Messages that come while the past of their channel is being loaded.

    Of those that are too many bytes the oldest go, as what is loaded has them as well.
    """

    def __init__(self, max_bytes: int) -> None:
        self._texts: deque[bytes] = deque()
        self._bytes = 0
        self._max_bytes = max_bytes
        self.dropped = 0
        """The number of the last that is gone."""

    def add(self, text: bytes) -> None:
        self._texts.append(text)
        self._bytes += len(text)
        while self._bytes > self._max_bytes:
            oldest = self._texts.popleft()
            self._bytes -= len(oldest)
            self.dropped = number_of(oldest)

    def taken(self) -> Iterator[bytes]:
        """Takes them away, and those that are added meanwhile."""
        while self._texts:
            text = self._texts.popleft()
            self._bytes -= len(text)
            yield text


class RecentPages:
    """Reads streams of custom events page by page; many at once take turns."""

    def __init__(self, redis: Redis, numbers: str, seconds: float, at_once: int) -> None:
        """
        Args:
            numbers: the key that counts messages.
        """
        self._numbers = numbers
        self._script = redis.register_script(scripts.RECENT)
        self._seconds = round(seconds)
        self._turns = asyncio.Semaphore(at_once)
        self._failing = False

    async def read(self, stream: str) -> AsyncIterator[RecentPage]:
        """Reads a stream from a minute ago to its end, however often Redis fails meanwhile."""
        failures, cursor, is_last = 0, b"", False
        while not is_last:
            try:
                async with self._turns:
                    epoch, last, floor, texts, ages_ms, cursor_after = await self._script(
                        keys=[self._numbers, stream],
                        args=[secrets.token_hex(8), self._seconds, cursor, PAGE],
                    )
            except (TimeoutError, RedisError, OSError) as error:
                if not self._failing:
                    log.warning("redis.recent_not_loaded", error=type(error).__name__)
                self._failing = True
                ceiling = backoff_s(failures, BACKOFF_INITIAL_S, BACKOFF_MAX_S)
                failures += 1
                await asyncio.sleep(random.uniform(ceiling / 2, ceiling))  # noqa: S311 - spreads load, protects nothing
                continue
            self._failing, failures, cursor, is_last = False, 0, cursor_after, not cursor_after
            messages = list(zip(texts, ages_ms, strict=True))
            yield RecentPage(epoch.decode(), last, floor, messages, is_last)
