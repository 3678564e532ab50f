"""Has what an owner's streams ask for, and their ends, one after another, while others have their turns."""

from __future__ import annotations

import asyncio
from weakref import WeakValueDictionary

from onair_api.access.audiences import Owner


class OwnerTurns:
    """Makes the streams of one owner take turns in the event loop.

    A hundred may end at once, or bring hundreds of requests each, which wait for nothing.
    """

    def __init__(self) -> None:
        self._gates: WeakValueDictionary[Owner, asyncio.Lock] = WeakValueDictionary()

    async def next(self, owner: Owner) -> None:
        """Waits for the next turn: one of an owner's in each step of the event loop, in order."""
        async with self._gate(owner):
            await asyncio.sleep(0)

    async def hold(self, owner: Owner, seconds: float) -> None:
        """Lets nobody of an owner's have a turn for some time, once it is this one's."""
        async with self._gate(owner):
            await asyncio.sleep(seconds)

    def _gate(self, owner: Owner) -> asyncio.Lock:
        gate = self._gates.get(owner)
        if gate is None:
            gate = self._gates[owner] = asyncio.Lock()
        return gate
