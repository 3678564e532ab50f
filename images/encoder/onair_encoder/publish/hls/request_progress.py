"""Notices a request that makes no progress: bytes that do not move, a response that does not come."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable

import aiohttp

from onair_crds.session_error import SessionError

CHUNK = 64 * 1024
LEAST_S = 1.0
"""A storage may take so long though all is well: to connect, to negotiate TLS, to write to its disks."""
LONGEST_RESPONSE_S = 60.0


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
        """The next one is given twice as long."""
        self._usual_s = min(limit_s, LONGEST_RESPONSE_S / 2)


class RequestProgress:
    """Watches one request. Its body has to be taken from `chunks`."""

    def __init__(
        self, unacknowledged: Callable[[], int], response_timeout: ResponseTimeout, size: int
    ) -> None:
        """
        Args:
            unacknowledged: bytes that the kernel holds because the storage has not acknowledged them.
            size: bytes of the body.
        """
        self._moved_at = time.monotonic()
        self._unacknowledged = unacknowledged
        self._response_timeout = response_timeout
        self._held = 0
        self._left = size

    def _look(self) -> None:
        """Bytes that left this process may still be in flight, for seconds on a slow network."""
        if (held := self._unacknowledged()) != self._held:
            self._held = held
            self._moved_at = time.monotonic()

    @property
    def _sending(self) -> bool:
        return bool(self._left or self._held)

    async def chunks(self, data: bytes | bytearray) -> AsyncIterator[bytes | bytearray]:
        for at in range(0, len(data), CHUNK):
            self._moved_at = time.monotonic()
            yield data[at : at + CHUNK]
        self._left = 0
        self._moved_at = time.monotonic()

    async def watch(
        self, request: asyncio.Future[aiohttp.ClientResponse], timeout_s: Callable[[], float], server: str
    ) -> aiohttp.ClientResponse:
        """The head of the response.

        Raises:
            SessionError: no bytes moved for longer than the timeout, or no response came in time.
        """
        try:
            while True:
                # Looking closely costs little, as there is a request every two seconds
                await asyncio.wait({request}, timeout=min(0.25, timeout_s() / 4))
                still_s = time.monotonic() - self._moved_at
                if request.done():
                    if not self._sending:
                        self._response_timeout.responded(still_s)
                    return request.result()
                self._look()
                limit_s = max(timeout_s(), LEAST_S)
                if self._sending:
                    if still_s > limit_s:
                        raise SessionError(f"stalled: {server} took no bytes for {limit_s * 1000:.0f} ms")
                    continue
                limit_s = self._response_timeout.limit_s(limit_s)
                if still_s > limit_s:
                    self._response_timeout.expired(limit_s)
                    raise SessionError(f"stalled: {server} gave no response for {limit_s * 1000:.0f} ms")
        finally:
            if not request.done():
                request.cancel()
                await asyncio.gather(request, return_exceptions=True)
