"""Notices a request that makes no progress: bytes that do not move, a response that does not come."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Any

from onair_crds.session_error import SessionError
from onair_encoder.publish.stillness import Stillness
from onair_encoder.publish.tcp_progress import Socket, unacknowledged

LEAST_S = 1.0
"""A storage may take so long though all is well: to connect, to negotiate TLS, to write to its disks."""
LONGEST_RESPONSE_S = 60.0
LONGEST_READ_S = 600.0
"""For the largest playlist across the slowest network; a storage may give a byte now and then for ever."""
LOOK_S = 0.25
Clock = Callable[[], float]
"""Monotonic, in seconds."""


class ResponseTimeout:
    """How long a response may take after everything was sent.

    A proxy, or the queue of a slow network, may hold a segment for longer than the
    destination's timeout, and to send it again would not help.
    """

    def __init__(self) -> None:
        self._usual_s = 0.0

    def limit_s(self, least_s: float) -> float:
        return max(least_s, 2 * self._usual_s)

    def responded(self, after_s: float) -> None:
        self._usual_s = max(after_s, 0.9 * self._usual_s)

    def expired(self, limit_s: float) -> None:
        """Doubles the timeout of the next response."""
        self._usual_s = min(limit_s, LONGEST_RESPONSE_S / 2)


class RequestProgress:
    """Watches one request and the body of its response."""

    def __init__(
        self,
        server: str,
        timeout_s: Callable[[], float],
        response_timeout: ResponseTimeout,
        clock: Clock = time.monotonic,
        taken: Callable[[int], object] = lambda _: None,
    ) -> None:
        """
        Args:
            server: as errors name it.
            timeout_s: how long it may make no progress, looked up again and again.
            taken: told again and again how many bytes of the body the storage has acknowledged.
        """
        self._server = server
        self._timeout_s = timeout_s
        self._response_timeout = response_timeout
        self._clock = clock
        self._taken = taken
        self._stillness = Stillness(LOOK_S, clock())
        self._moved = False
        self._began_s: float | None = None
        """When the first bytes of the response were waited for."""
        self._connection: Socket | None = None
        self._held = 0
        """Bytes that the kernel holds because the storage has not acknowledged them."""
        self._left = 0
        """Bytes of the body that were not given to the connection yet."""
        self._size = 0
        """Of the body."""

    def connected(self, connection: Socket | None) -> None:
        """Notes the connection that all of the request goes out by, and no other request meanwhile."""
        self._connection, self._held = connection, 0
        self._moved = True

    def left(self, more_bytes: int) -> None:
        """Notes how much of the body is yet to be given to the connection."""
        self._left = more_bytes
        self._size = max(self._size, more_bytes)
        self._moved = True

    @property
    def _sending(self) -> bool:
        return bool(self._left or self._held)

    @property
    def _limit_s(self) -> float:
        return max(self._timeout_s(), LEAST_S)

    def _still_s(self) -> float:
        """Seconds without progress. Bytes that left this process may be in flight for some of them."""
        if (held := self._unacknowledged()) != self._held:
            self._held, self._moved = held, True
        self._taken(self._size - self._left - self._held)
        moved, self._moved = self._moved, False
        return self._stillness.look(self._clock(), progress=moved)

    def _unacknowledged(self) -> int:
        try:
            return unacknowledged(self._connection) if self._connection else 0
        except OSError:
            return 0

    async def response(self, request: asyncio.Future[Any]) -> None:
        """Waits for the head of the response.

        Raises:
            SessionError: no bytes moved for longer than the timeout, or no response came in time.
        """
        while not await self._look(request):
            still_s, limit_s = self._still_s(), self._limit_s
            if self._sending:
                if still_s > limit_s:
                    raise SessionError(f"stalled: {self._server} took no bytes for {limit_s * 1000:.0f} ms")
                continue
            limit_s = self._response_timeout.limit_s(limit_s)
            if still_s > limit_s:
                self._response_timeout.expired(limit_s)
                raise SessionError(f"stalled: {self._server} gave no response for {limit_s * 1000:.0f} ms")
        still_s = self._still_s()
        if not self._sending:
            self._response_timeout.responded(still_s)

    async def more(self, reading: asyncio.Future[Any]) -> None:
        """Waits for the next bytes of the response.

        Raises:
            SessionError: none came in time, or it takes all too long.
        """
        self._moved = True
        if self._began_s is None:
            self._began_s = self._clock()
        while not await self._look(reading):
            if self._still_s() > self._limit_s:
                raise SessionError(f"stalled: {self._server} did not end its response")
        if self._clock() - self._began_s > LONGEST_READ_S:
            raise SessionError(f"{self._server} did not end its response within {LONGEST_READ_S:.0f} s")

    async def _look(self, waited: asyncio.Future[Any]) -> bool:
        """Whether it is done; looking closely costs little, as there is a request every two seconds."""
        await asyncio.wait({waited}, timeout=min(LOOK_S, self._timeout_s() / 4))
        return waited.done()
