"""Stores closed sessions until they come back: in Redis for all replicas, else in this replica's memory.

Of two copies of a session the one that closed later counts. When that was is told by how long it is kept yet,
counted by the clock of Redis or by that of this process: clocks of two replicas are never compared. It is
right to within a round trip to Redis. See docs/decisions/0273 for when a session was where it got to.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass

import orjson
import structlog
from cachetools import TTLCache
from redis.asyncio import Redis

from onair_api.event.replay.closed_session_position import ClosedSession
from onair_api.event.replay.redis_sessions import TOGETHER, RedisSessions, SessionText
from onair_api.redis_keys import DEFAULT_KEYS, RedisKeys
from onair_crds.shapes import JsonObject

log = structlog.get_logger()

MAX_LOCAL = 20_000
WAIT_S = 3.0
"""For which a session waits to be stored as it closes, or fetched as it comes back."""
RETRY_S = 1.0
"""Between tries to store what was not stored as it closed."""


@dataclass(slots=True)
class KeptSession:
    """A copy of a closed session."""

    closed: ClosedSession
    until: float
    """When it is forgotten, in seconds of this process's clock: the later, the later it closed."""
    settled: bool = False
    """It is stored, was taken, or another took its place."""


class SessionStore:
    """Keeps closed sessions and hands each out once."""

    def __init__(
        self,
        redis: Redis | None,
        connected: Callable[[], bool],
        keep_s: float,
        clock: Callable[[], float] = time.monotonic,
        keys: RedisKeys = DEFAULT_KEYS,
    ) -> None:
        """
        Args:
            connected: whether Redis is reachable; while it is not, a session must return to this replica.
        """
        self._shared = RedisSessions(redis, connected) if redis is not None else None
        self._connected = connected
        self._keys = keys
        self._keep_s = keep_s
        self._clock = clock
        self._local: TTLCache[str, KeptSession] = TTLCache(MAX_LOCAL, keep_s, clock)
        """Those that are not stored in Redis, or not yet."""

    async def keep(self, user_id: str, session_id: str, closed: ClosedSession) -> None:
        """Keeps a session that has closed now; returns once it is stored, or `run` has to try again."""
        key = self._keys.session(user_id, session_id)
        self._local.expire()
        self._forget(key)
        self._local[key] = kept = KeptSession(closed, self._clock() + self._keep_s)
        try:
            async with asyncio.timeout(WAIT_S):
                await self._store(key, kept)
        except OSError as error:
            if self._connected():
                log.warning("stream.session_not_stored", error=str(error) or type(error).__name__)

    async def take(self, user_id: str, session_id: str) -> ClosedSession | None:
        """Removes the closed session of this user and id, and returns it.

        Where nobody can say whether there is one, that is one that has lost events.
        """
        key = self._keys.session(user_id, session_id)
        try:
            async with asyncio.timeout(WAIT_S):
                found = await self._fetch(key)
        except (OSError, ValueError, KeyError, TypeError) as error:
            if self._connected():
                log.warning("stream.session_not_fetched", error=str(error) or type(error).__name__)
            found = KeptSession(ClosedSession({}, [], self._clock(), lost=True), until=0.0)
        local = self._forget(key)
        if local and (found is None or local.until >= found.until):
            return local.closed
        return found.closed if found else None

    async def run(self) -> None:
        """Stores what could not be stored as it closed, until cancelled."""
        while True:
            await asyncio.sleep(RETRY_S)
            try:
                await self._store_rest()
            except OSError as error:
                log.warning("stream.session_not_stored", error=str(error) or type(error).__name__)

    async def _store_rest(self) -> None:
        """
        Raises:
            OSError: some were not.
        """
        rest = [(key, kept) for key in list(self._local) if (kept := self._local.get(key))]
        while rest and self._connected():
            some, rest = rest[:TOGETHER], rest[TOGETHER:]
            async with asyncio.timeout(WAIT_S):
                await asyncio.gather(*(self._store(*each) for each in some))

    def _forget(self, key: str) -> KeptSession | None:
        """Ends what is kept here of a session."""
        kept: KeptSession | None = self._local.pop(key, None)
        if kept:
            kept.settled = True
        return kept

    async def _store(self, key: str, kept: KeptSession) -> None:
        """Stores a session in Redis, unless one that closed later is there.

        Raises:
            OSError: it was not, as far as is known.
        """
        if self._shared is None:
            return
        await self._shared.store(key, lambda: self._text(kept))
        kept.settled = True
        if self._local.get(key) is kept:
            del self._local[key]

    def _text(self, kept: KeptSession) -> SessionText | None:
        left_ms = round((kept.until - self._clock()) * 1000)
        if kept.settled or left_ms <= 0:
            return None
        at = kept.closed.at
        times = {
            "keepS": self._keep_s,
            "behindS": kept.until - self._keep_s - at,
            # By this replica's clock: replicas of an earlier version know nothing else
            "at": time.time() - (self._clock() - at),
        }
        return SessionText(orjson.dumps({**kept.closed.json(), **times}), left_ms)

    async def _fetch(self, key: str) -> KeptSession | None:
        """Takes a session from Redis.

        Raises:
            OSError: whether there is one is unknown.
            ValueError, KeyError, TypeError: there is one that cannot be decoded.
        """
        stored = await self._shared.take(key) if self._shared else None
        if stored is None:
            return None
        value, left_s = orjson.loads(stored.text), stored.left_ms / 1000
        closed = ClosedSession.from_json(value, self._clock() - self._age_s(value, left_s))
        return KeptSession(closed, self._clock() + left_s)

    def _age_s(self, value: JsonObject, left_s: float) -> float:
        """How long ago a stored session was where it got to; rather too long, as it is told of losses then.

        By its time in Redis it is too young if it was stored late; by clocks that are apart, anything.

        Raises:
            ValueError, KeyError, TypeError: it does not say when that was.
        """
        by_clocks_s = time.time() - float(value["at"])
        # A replica of an earlier version says no more
        kept_s = float(value.get("keepS", self._keep_s)) - left_s
        return max(kept_s + float(value.get("behindS", 0.0)), by_clocks_s)
