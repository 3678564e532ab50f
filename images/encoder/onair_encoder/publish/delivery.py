"""All destinations of the programme: the wanted ones have a publisher each, and no other has."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from onair_crds.contract.program import DestinationState, ProgramDestination
from onair_encoder.logs import log
from onair_encoder.media.fan_out import FanOut
from onair_encoder.publish.kinds import KINDS
from onair_encoder.publish.publisher import Counters, Publisher


class Delivery:
    def __init__(self, fan_out: FanOut, changed: Callable[[], None]) -> None:
        self._fan_out = fan_out
        self._changed = changed
        self._publishers: dict[str, Publisher] = {}
        self._ending: set[asyncio.Task[None]] = set()

    def want(self, destinations: Sequence[ProgramDestination], broadcast: str = "") -> None:
        """Adds, changes and removes publishers; those that stay are not touched."""
        wanted = {destination.id: destination for destination in destinations}
        for gone in self._publishers.keys() - wanted.keys():
            self._end(self._publishers.pop(gone))
        for id_, destination in wanted.items():
            known = self._publishers.get(id_)
            if known and self._updated(known, destination):
                continue
            if known:
                self._end(known)
            kind = KINDS[destination.type]
            self._publishers[id_] = kind(destination, self._fan_out, self._changed, broadcast)

    def _updated(self, publisher: Publisher, destination: ProgramDestination) -> bool:
        """Whether it took the change; where it could not, another takes its place."""
        try:
            return publisher.update(destination)
        except Exception as error:  # noqa: BLE001  a destination costs no other one anything
            log("destination.failed", id=destination.id, error=type(error).__name__)
            return False

    def _end(self, publisher: Publisher) -> None:
        task = asyncio.create_task(publisher.finish())
        self._ending.add(task)
        task.add_done_callback(self._ending.discard)

    @property
    def states(self) -> list[DestinationState]:
        return [publisher.state for publisher in self._publishers.values()]

    def counters(self, id_: str) -> Counters:
        """What a destination has come to.

        Raises:
            KeyError: there is none of this id.
        """
        return self._publishers[id_].counters

    def counters_of_all(self) -> list[tuple[ProgramDestination, DestinationState, Counters]]:
        return [(each.destination, each.state, each.counters) for each in self._publishers.values()]

    async def finish(self) -> None:
        """Ends every stream properly."""
        publishers = list(self._publishers.values())
        self._publishers.clear()
        await asyncio.gather(*(p.finish() for p in publishers), *self._ending, return_exceptions=True)

    def abort(self) -> None:
        for publisher in self._publishers.values():
            publisher.abort()
