"""All destinations of the programme: each wanted one has a publisher with the output of its kind."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from onair_crds.contract.program import DestinationState, ProgramDestination, UnreadableDestination
from onair_crds.resources.enums import ConnectState
from onair_crds.runtime.stderr_log import log
from onair_encoder.media.fan_out import FanOut
from onair_encoder.publish.destination_kinds import KINDS
from onair_encoder.publish.destination_publisher import DestinationPublisher
from onair_encoder.publish.encoder_run import EncoderRun
from onair_encoder.publish.supplied_destination import Counters, SuppliedDestination, now


class Delivery:
    def __init__(self, fan_out: FanOut, changed: Callable[[], None]) -> None:
        self._fan_out = fan_out
        self._changed = changed
        self._publishers: dict[str, DestinationPublisher] = {}
        self._unreadable: dict[str, DestinationState] = {}
        """States of those that are wanted and have no publisher, as this encoder cannot read them."""
        self._ending: set[asyncio.Task[None]] = set()
        self._open: set[DestinationPublisher] = set()
        """Those that are wanted, and those that are being ended."""

    def want(
        self,
        destinations: Sequence[ProgramDestination],
        run: EncoderRun | None = None,
        unreadable: Sequence[UnreadableDestination] = (),
    ) -> None:
        """Adds, changes and removes publishers; those that stay are not touched.

        Args:
            unreadable: reported as not connected, unless one of `destinations` is what is left of it.
        """
        wanted = {destination.id: destination for destination in destinations}
        for gone in self._publishers.keys() - wanted.keys():
            self._end(self._publishers.pop(gone))
        for id_, destination in wanted.items():
            known = self._publishers.get(id_)
            if known and self._updated(known, destination):
                known.destination.run = run or known.destination.run
                continue
            if known:
                self._end(self._publishers.pop(id_))
            kind, before = KINDS[destination.type], self._giving_way_to(destination)
            self._publishers[id_] = DestinationPublisher(
                kind, destination, self._fan_out, self._changed, run, before
            )
        self._open = {publisher for publisher in self._open if not publisher.over}
        self._open.update(self._publishers.values())
        missing = [each for each in unreadable if each.id not in wanted]
        self._unreadable = {each.id: self._unreadable_state(each) for each in missing}

    def _unreadable_state(self, wanted: UnreadableDestination) -> DestinationState:
        before = self._unreadable.get(wanted.id)
        if before and (before.generation, before.last_error) == (wanted.generation, wanted.error):
            return before
        log("destination.unreadable", id=wanted.id, error=wanted.error)
        return DestinationState(
            id=wanted.id,
            connect=ConnectState.DISCONNECTED,
            since=now(),
            last_error=wanted.error,
            generation=wanted.generation,
        )

    def _giving_way_to(self, wanted: ProgramDestination) -> list[DestinationPublisher]:
        """Those being ended that leave to this one what they have to do; they do nothing more."""
        kept = set(self._publishers.values())
        found = [each for each in self._open - kept if not each.over and each.gives_way_to(wanted)]
        for publisher in found:
            publisher.abort()
        return found

    def _updated(self, publisher: DestinationPublisher, wanted: ProgramDestination) -> bool:
        """Whether it could apply the change; otherwise another publisher replaces it."""
        try:
            return publisher.update(wanted)
        except Exception as error:  # noqa: BLE001  one destination must not affect the others
            log("destination.failed", id=wanted.id, error=type(error).__name__)
            return False

    def _end(self, publisher: DestinationPublisher) -> None:
        task = asyncio.create_task(publisher.finish())
        self._ending.add(task)
        task.add_done_callback(self._ending.discard)

    @property
    def destinations(self) -> list[SuppliedDestination]:
        return [publisher.destination for publisher in self._publishers.values()]

    @property
    def states(self) -> list[DestinationState]:
        return [*(destination.state for destination in self.destinations), *self._unreadable.values()]

    @property
    def removed_waiting_s(self) -> float:
        """Seconds of the programme that those which are no longer wanted have yet to store."""
        return round(sum(removed.state.waiting_s for removed in self._removed), 1)

    @property
    def _removed(self) -> list[SuppliedDestination]:
        """Those that are being ended, and not wanted any more."""
        kept = set(self._publishers.values())
        return [each.destination for each in self._open - kept if not each.over]

    def _tell_what_nobody_stores(self) -> None:
        """Neither another agent nor another encoder goes on with what is not wanted any more."""
        for removed in self._removed:
            if waiting_s := removed.state.waiting_s:
                log("destination.not-stored", id=removed.wanted.id, waiting_s=waiting_s)

    def counters(self, id_: str) -> Counters:
        """Counters of one destination.

        Raises:
            KeyError: there is none of this id.
        """
        return self._publishers[id_].destination.counters

    async def finish(self) -> None:
        """Ends every stream properly; states stay, as others may still be ending."""
        ending = [self._finish(each) for each in self._publishers.values()]
        await asyncio.gather(*ending, *self._ending, return_exceptions=True)

    async def _finish(self, publisher: DestinationPublisher) -> None:
        await publisher.finish()
        publisher.destination.ended()

    def hurry(self) -> None:
        """Lets nobody wait for what waits, as the pod is being deleted."""
        for publisher in self._open:
            publisher.destination.hurry = True

    async def close_recordings(self) -> None:
        """Closes recordings in the time that streams have for it, and everything else at once."""
        self.hurry()
        recordings = [each for each in self._publishers.values() if each.records]
        for publisher in self._publishers.values():
            if publisher not in recordings:
                publisher.abort()
        await asyncio.gather(*map(self._finish, recordings), *self._ending, return_exceptions=True)

    def abort(self) -> None:
        self._tell_what_nobody_stores()
        for publisher in self._publishers.values():
            publisher.abort()

    async def close(self) -> None:
        """Closes every stream at once, as another encoder takes over; returns when all are closed."""
        self._tell_what_nobody_stores()
        for publisher in self._open:
            publisher.abort()
        await asyncio.gather(*(publisher.ended() for publisher in self._open))
