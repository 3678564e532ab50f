"""The streams of one gateway that have ended: which of them are remembered, and for how long. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Set as AbstractSet

from onair_crds.contract.ingest_gateway import StreamState

MAX_STREAMS = 10_000
"""Of one gateway: those that are online. Pulls that fail are not counted: they may be as many."""
ENDED_KEPT = 1000
"""Streams that have ended for good, and are remembered for what they ended of."""


class EndedStreams:
    """Forgets the oldest first of those that have ended for good, and others only beyond what there may be.

    Without the state of one that is unknown its source would count as disconnected, and without that of a
    pull nobody would learn why it fails.
    """

    def __init__(self, wanted: AbstractSet[str] | None = None) -> None:
        """`wanted`: the pulls that the gateway is to have; None: that is not known yet."""
        self._wanted = wanted
        self._for_good: dict[str, StreamState] = {}
        self._unknown: dict[str, StreamState] = {}
        self._pulls: dict[str, StreamState] = {}
        """Those that are wanted; while that is not known, all."""

    @property
    def wanted(self) -> AbstractSet[str] | None:
        return self._wanted

    def __iter__(self) -> Iterator[StreamState]:
        for states in self._all:
            yield from states.values()

    def get(self, stream: str) -> StreamState | None:
        return next((states[stream] for states in self._all if stream in states), None)

    def put(self, state: StreamState) -> None:
        """Remembers why a stream is not online, in place of what was known of it."""
        self.pop(state.stream)
        states, most = self._place(state)
        states[state.stream] = state
        if most is not None and len(states) > most:
            del states[next(iter(states))]

    def pop(self, stream: str) -> StreamState | None:
        found = [states.pop(stream) for states in self._all if stream in states]
        return found[0] if found else None

    def want(self, pulls: AbstractSet[str]) -> None:
        """Remembers these pulls for as long as they are wanted, and others as any stream that ended."""
        states = list(self)
        self._wanted = pulls
        for each in self._all:
            each.clear()
        for state in states:
            self.put(state)

    @property
    def _all(self) -> tuple[dict[str, StreamState], ...]:
        return self._for_good, self._unknown, self._pulls

    def _place(self, state: StreamState) -> tuple[dict[str, StreamState], int | None]:
        """Where a state is kept, and with how many; None: there are no more than are wanted."""
        if state.protocol == "pull" and (self._wanted is None or state.stream in self._wanted):
            return self._pulls, MAX_STREAMS if self._wanted is None else None
        return (self._unknown, MAX_STREAMS) if state.unknown else (self._for_good, ENDED_KEPT)
