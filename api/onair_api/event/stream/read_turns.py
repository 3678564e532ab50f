"""Has connections parse what they received in turns, however much comes at once."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Hashable
from typing import Protocol
from weakref import WeakKeyDictionary

ROUND_S = 0.001
"""For which a round of the event loop parses; one piece may take longer."""


class Received(Protocol):
    """What a connection has received, and not parsed yet."""

    reads_for: Hashable
    """Whose it is: they take turns."""

    def parse_piece(self) -> bool:
        """Parses some of it; whether more is to be parsed now."""


class ReadTurns:
    """Parses at once while a round has time for it; the rest later, a piece of each owner in turn."""

    def __init__(self) -> None:
        self._waiting: dict[Hashable, deque[Received]] = {}
        self._left_s = ROUND_S
        self._next: asyncio.Handle | None = None

    def add(self, received: Received) -> None:
        """Has pieces of it parsed until no more is to be parsed now; it is not added again before."""
        owner = received.reads_for
        if owner in self._waiting or self._left_s <= 0 or self._parse(received):
            self._waiting.setdefault(owner, deque()).append(received)
        if self._next is None:
            self._next = asyncio.get_running_loop().call_soon(self._round)

    def _parse(self, received: Received) -> bool:
        began = time.monotonic()
        try:
            return received.parse_piece()
        finally:
            self._left_s -= time.monotonic() - began

    def _round(self) -> None:
        self._next, self._left_s = None, ROUND_S
        while self._waiting and self._left_s > 0:
            owner, queue = next(iter(self._waiting.items()))
            del self._waiting[owner]
            received = queue.popleft()
            if self._parse(received):
                queue.append(received)
            if queue:
                self._waiting[owner] = queue
        if self._waiting:
            self._next = asyncio.get_running_loop().call_soon(self._round)


_TURNS: WeakKeyDictionary[asyncio.AbstractEventLoop, ReadTurns] = WeakKeyDictionary()


def read_turns() -> ReadTurns:
    """Those of the running event loop."""
    loop = asyncio.get_running_loop()
    turns = _TURNS.get(loop)
    if turns is None:
        turns = _TURNS[loop] = ReadTurns()
    return turns
