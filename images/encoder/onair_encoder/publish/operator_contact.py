"""Whether the operator that wants this encoder can reach it: if not, another may have taken its place."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

LOST_AFTER_S = 10.0
"""The operator is in touch every 3 s; after a cut another encoder is on air in 13 s at best."""


class OperatorContact:
    """Contact is an authenticated request that arrived; a silent operator costs no connection that stands."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._heard_at = clock()
        """An agent that has just started is wanted until it is known better."""
        self._next = asyncio.Event()

    def heard(self) -> None:
        """The operator was in touch."""
        self._heard_at = self._clock()
        self._next.set()
        self._next = asyncio.Event()

    @property
    def lost(self) -> bool:
        return self._clock() - self._heard_at > LOST_AFTER_S

    async def next(self) -> bool:
        """Waits until the operator is in touch again."""
        return await self._next.wait()
