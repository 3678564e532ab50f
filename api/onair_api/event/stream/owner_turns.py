"""Has what an owner's streams ask for, and their ends, one after another, while others have their turns."""

from __future__ import annotations

import asyncio

from onair_api.access.audiences import Owner
from onair_crds.runtime.keyed_locks import KeyedLocks


class OwnerTurns:
    """Makes the streams of one owner take turns in the event loop.

    A hundred may end at once, or bring hundreds of requests each, which wait for nothing.
    """

    def __init__(self) -> None:
        self._gates: KeyedLocks[Owner] = KeyedLocks()

    async def next(self, owner: Owner, takes_s: float = 0.0) -> None:
        """Waits for the next turn, in order, and until it is over.

        Args:
            takes_s: how long it takes; by default until the next step of the event loop.
        """
        async with self._gates.of(owner):
            await asyncio.sleep(takes_s)
