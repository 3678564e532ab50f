"""Locks a prefix of a bucket: two that write under one would overwrite each other's segments."""

from __future__ import annotations

import asyncio

from onair_crds.contract.program import ProgramStorage
from onair_encoder.publish.session_error import SessionError

Prefix = tuple[str | None, str, str, str]
"""Endpoint, region, bucket, prefix."""
_LOCKS: dict[Prefix, asyncio.Lock] = {}


class PrefixLock:
    """Held by one destination of this process at a time."""

    def __init__(self, storage: ProgramStorage, wait_s: float) -> None:
        """
        Args:
            wait_s: how long a predecessor may take to end.
        """
        prefix = (storage.endpoint, storage.region, storage.bucket, storage.prefix.strip("/"))
        self._bucket = storage.bucket
        self._wait_s = wait_s
        self._lock = _LOCKS.setdefault(prefix, asyncio.Lock())
        self._held = False

    async def acquire(self) -> None:
        """Waits for a predecessor to end; nothing where it is held already.

        Raises:
            SessionError: another destination writes there.
        """
        if self._held:
            return
        try:
            async with asyncio.timeout(self._wait_s):
                await self._lock.acquire()
        except TimeoutError:
            raise SessionError(
                f"another destination of this show writes to bucket {self._bucket} under the same prefix",
                permanent=True,
            ) from None
        self._held = True

    def release(self) -> None:
        if self._held:
            self._held = False
            self._lock.release()
