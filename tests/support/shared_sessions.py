"""Stands for the Redis that keeps closed sessions for all replicas."""

from __future__ import annotations

import asyncio
from typing import Any

from tests.support.settable_clock import SettableClock

Result = tuple[object, int]


class SharedSessions:
    """Does what the script of closed sessions does; one that is held responds only once it is released."""

    def __init__(self, clock: SettableClock | None = None) -> None:
        self.clock = clock or SettableClock(0.0)
        self._kept: dict[str, tuple[bytes, int]] = {}
        self.responds = asyncio.Event()
        self.responds.set()
        self.fails = False
        self.round_trips = 0
        self.now, self.most_at_once = 0, 0

    @property
    def keys(self) -> list[str]:
        """What is stored."""
        return [key for key in self._kept if self._left(key) > 0]

    def register_script(self, _: str) -> Any:
        return self._exchange

    async def _exchange(self, keys: list[str], args: list[Any]) -> list[Result]:
        self.round_trips += 1
        self.now += 1
        self.most_at_once = max(self.most_at_once, self.now)
        try:
            await asyncio.sleep(0)
            await self.responds.wait()
        finally:
            self.now -= 1
        if self.fails:
            raise OSError("unreachable")
        return [self.exchange(*each) for each in zip(keys, args[::2], args[1::2], strict=True)]

    def exchange(self, key: str, text: bytes, keep_ms: int) -> Result:
        left_ms = self._left(key)
        if not text:
            kept = self._kept.pop(key, None)
            return (kept[0] if kept and left_ms > 0 else None), left_ms
        if left_ms <= keep_ms:
            self._kept[key] = text, self._now_ms + keep_ms
        return b"OK", max(left_ms, keep_ms)

    def _left(self, key: str) -> int:
        return self._kept[key][1] - self._now_ms if key in self._kept else -2

    @property
    def _now_ms(self) -> int:
        return round(self.clock.now * 1000)
