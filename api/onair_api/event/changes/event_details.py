"""Keeps for a minute what the event of a write says beyond the difference of two versions.

The replica that writes remembers it, and does not depend on Redis for it; the other ones find it in Redis,
unless it is large.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Protocol, TypeVar

import orjson
import structlog
from cachetools import TTLCache
from redis.exceptions import RedisError

from onair_api.writes.request_note import StoredNote
from onair_crds.shapes import JsonObject

T = TypeVar("T")
log = structlog.get_logger()

KEEP_S = 60
SHARED_BYTES = 1024 * 1024
"""At most so many of one write are in Redis."""
OWN_BYTES = 16 * 1024 * 1024
"""At most so many are remembered of what this replica writes: until their events, a moment later."""
TIMEOUT_S = 0.25
"""In which Redis has kept or found them: events of layouts, and writes of one layout, wait for each other."""
LOOKS = 10
"""None takes more of that time than its part: that this process did not run is not the fault of Redis."""


class SharedValues(Protocol):
    """Values in Redis. Each method raises a RedisError or an OSError where that refuses or is unreachable."""

    async def put(self, name: str, value: bytes, life_s: int, service_id: str) -> None:
        """Keeps a value that counts for a service."""

    async def get(self, name: str) -> bytes | None: ...


class EventDetails:
    """Implements `layout.event_details_store.EventDetailsStore`."""

    def __init__(
        self,
        values: SharedValues | None,
        connected: Callable[[], bool],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._values = values
        self._connected = connected
        self._own: TTLCache[str, bytes] = TTLCache(OWN_BYTES, KEEP_S, clock, len)

    def may_have(self, note: StoredNote) -> bool:
        """Whether it is worth a look: this replica wrote them, or Redis is there and may have them."""
        return note.nonce in self._own or (note.may_have_details and self._shared is not None)

    async def keep(self, nonce: str, details: JsonObject, service_id: str) -> bool:
        """Never fails the write: where details cannot be kept, the event says what the difference says."""
        self.forget(nonce)
        try:
            text = orjson.dumps(details)
            if len(text) <= OWN_BYTES:
                self._own[nonce] = text
            if (values := self._shared) and len(text) <= SHARED_BYTES:
                await _in_time(values.put(nonce, text, KEEP_S, service_id))
                return True
        except (TimeoutError, RedisError, OSError, orjson.JSONEncodeError) as error:
            log.warning("event_details.not_kept", error=type(error).__name__)
        return False

    def forget(self, nonce: str) -> None:
        self._own.pop(nonce, None)

    async def find(self, nonce: str) -> JsonObject | None:
        """Gives them; those that this replica wrote once, as each version is announced once."""
        try:
            text: bytes | None = self._own.pop(nonce, None)
            text = text or await self._look(nonce)
            value = orjson.loads(text) if text else None
        except (TimeoutError, RedisError, OSError, orjson.JSONDecodeError) as error:
            log.warning("event_details.not_found", error=type(error).__name__)
            return None
        return value if isinstance(value, dict) else None

    @property
    def _shared(self) -> SharedValues | None:
        return self._values if self._connected() else None

    async def _look(self, nonce: str) -> bytes | None:
        values = self._shared
        return await _in_time(values.get(nonce)) if values else None


async def _in_time(command: Awaitable[T]) -> T:
    """Waits for what Redis replies to a command.

    Raises:
        TimeoutError: it had not when this process looked for it so often.
    """
    task = asyncio.ensure_future(command)
    try:
        for _ in range(LOOKS):
            await asyncio.wait({task}, timeout=TIMEOUT_S / LOOKS)
            if task.done():
                return task.result()
        raise TimeoutError
    finally:
        task.cancel()
