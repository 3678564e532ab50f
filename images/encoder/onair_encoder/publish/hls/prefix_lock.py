"""Locks a prefix of a bucket: two that write under one would overwrite each other's playlist."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field

from onair_crds.contract.program import ProgramStorage
from onair_crds.session_error import SessionError

Prefix = tuple[str | None, str, str, str]
"""Endpoint, region, bucket, prefix."""


@dataclass
class _HeldPrefix:
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    holder: PrefixLock | None = None


_HELD_PREFIXES: dict[Prefix, _HeldPrefix] = {}


def prefix_of(storage: ProgramStorage) -> Prefix:
    """What one destination writes to, which no other may at the same time."""
    return storage.endpoint, storage.region, storage.bucket, storage.prefix.strip("/")


class PrefixLock:
    """Held by one destination of this process at a time."""

    def __init__(self, storage: ProgramStorage, wait_s: float, drains: Callable[[], bool]) -> None:
        """
        Args:
            wait_s: how long a predecessor may take to end.
            drains: whether it only stores what waits.
        """
        self._bucket = storage.bucket
        self._vod = storage.vod
        self._wait_s = wait_s
        self._drains = drains
        self._place = _HELD_PREFIXES.setdefault(prefix_of(storage), _HeldPrefix())

    @property
    def held(self) -> bool:
        return self._place.holder is self

    async def acquire(self) -> None:
        """Waits for a predecessor to end; nothing if it is held already.

        A recording that drains needs no lock next to a live window, whose playlist is not its own.

        Raises:
            SessionError: another destination writes there.
        """
        if self.held:
            return
        if holder := self._place.holder:
            if self.shares_with(holder):
                return
            if holder.shares_with(self):
                holder.release()
        try:
            async with asyncio.timeout(self._wait_s):
                await self._place.lock.acquire()
        except TimeoutError:
            raise SessionError(
                f"another destination of this show writes to bucket {self._bucket} under the same prefix",
                permanent=True,
            ) from None
        self._place.holder = self

    def shares_with(self, other: PrefixLock) -> bool:
        """Whether it continues without the lock, though the other one has it."""
        return self._vod and not other._vod and self._drains()

    def release(self) -> None:
        if self.held:
            self._place.holder = None
            self._place.lock.release()
