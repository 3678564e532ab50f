"""Keeps one destination supplied: one session after another, with back-off in between."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Sequence

from onair_crds.contract.program import ProgramDestination
from onair_crds.runtime.stderr_log import log
from onair_crds.session_error import SessionError
from onair_encoder.media.fan_out import FanOut
from onair_encoder.publish.backoff import LONGEST_S, Backoff, YieldingBackoff
from onair_encoder.publish.encoder_run import EncoderRun
from onair_encoder.publish.output import DeliverySession, Output
from onair_encoder.publish.supplied_destination import SuppliedDestination

STEADY_S = 10.0
"""A session that was connected for longer resets the back-off."""


class DestinationPublisher:
    """Runs a destination's output, whatever its kind, in a task of its own."""

    def __init__(
        self,
        kind: type[Output],
        wanted: ProgramDestination,
        fan_out: FanOut,
        changed: Callable[[], None],
        run: EncoderRun | None = None,
        after: Sequence[DestinationPublisher] = (),
    ) -> None:
        """
        Args:
            after: those of which this one takes over what they have to do, once they have ended.
        """
        self._after = after
        self.destination = SuppliedDestination(wanted, fan_out, changed, run)
        self._contact = self.destination.run.contact
        self._output = kind(self.destination)
        self._retry = asyncio.Event()
        self._backoff = Backoff(random.uniform)
        self._yielding = YieldingBackoff(random.uniform)
        self._aborted = False
        self._task = asyncio.create_task(self._run(), name=f"publish {wanted.id}")

    async def _run(self) -> None:
        try:
            for publisher in self._after:
                await publisher.ended()
            self._after = ()
            await self._output.begin()
            await self._supply()
            await self._output.conclude()
        except Exception as error:  # noqa: BLE001  one destination must not affect the others
            self.destination.disconnected(str(self._internal(error)))
        finally:
            await self._output.close()

    async def _supply(self) -> None:
        destination = self.destination
        while not destination.stop.is_set():
            destination.attempt()
            error = await self._session()
            if error and not destination.stop.is_set():
                await self._pause_after(error)

    async def _pause_after(self, error: SessionError) -> None:
        """Reports why there is no session, and waits until another is due."""
        destination = self.destination
        if destination.connected_s > STEADY_S:
            self._backoff.reset()
        if not self._contact.lost:
            self._yielding.reset()
        if error.displaced:
            # One sentence for both pauses: each change is reported to whoever follows the destination
            destination.disconnected(f"{error}; retried when the operator is in touch")
            await self._pause(None, or_contact=True)
            await self._pause(self._backoff.next_s(permanent=True))
            return
        if self._contact.lost and (error.closed_by_peer or self._yielding.begun):
            wait_s = self._yielding.next_s()
            why = f"{error}; retried after {wait_s:.0f} s, as the operator is out of touch"
            destination.disconnected(why)
            await self._pause(wait_s, or_contact=True)
            return
        wait_s = self._backoff.next_s(permanent=error.permanent)
        every = f"; retried every {LONGEST_S:.0f} s" if error.permanent else ""
        destination.disconnected(f"{error}{every}")
        await self._pause(wait_s)

    async def _session(self) -> SessionError | None:
        """One session from its opening to its end; gives why it failed."""
        try:
            session = await self._open()
            if session is None:
                return None
            try:
                await session.run()
            finally:
                await session.close()
        except SessionError as error:
            return error
        except Exception as error:  # noqa: BLE001  one destination must not affect the others
            return self._internal(error)
        return None

    async def _open(self) -> DeliverySession | None:
        """None if it was stopped before there was a session.

        Raises:
            SessionError: none could be opened.
        """
        opening = asyncio.create_task(self._output.open())
        stopped = asyncio.create_task(self.destination.stop.wait())
        session: DeliverySession | None = None
        try:
            await asyncio.wait({opening, stopped}, return_when=asyncio.FIRST_COMPLETED)
            if opening.done():
                session = opening.result()
            return session
        finally:
            stopped.cancel()
            if session is None:
                await _discard(opening)

    def _internal(self, error: Exception) -> SessionError:
        """An error of ours: its text may hold a key, so it is in no log and no status."""
        log("destination.failed", id=self.destination.wanted.id, error=type(error).__name__)
        return SessionError(f"internal error ({type(error).__name__})")

    async def _pause(self, wait_s: float | None, *, or_contact: bool = False) -> None:
        """Waits so long, or until it is stopped, is to retry at once, or the operator is in touch."""
        self._retry.clear()
        waits = [self.destination.stop.wait, self._retry.wait, *([self._contact.next] if or_contact else [])]
        wakers = [asyncio.create_task(wait()) for wait in waits]
        try:
            await asyncio.wait(wakers, timeout=wait_s, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for waker in wakers:
                waker.cancel()

    def gives_way_to(self, wanted: ProgramDestination) -> bool:
        """Whether this one, which is being ended, is to leave what it has to do to that one."""
        return self._output.gives_way_to(wanted)

    @property
    def records(self) -> bool:
        """Whether it is closed properly though another encoder may follow."""
        return self._output.records

    def retry_now(self) -> None:
        """Ends a pause: something has changed that may fix what is wrong."""
        self._retry.set()

    def update(self, wanted: ProgramDestination) -> bool:
        """Applies a change that takes no new session; False if it takes one."""
        if not self._output.keeps_session(self.destination.wanted, wanted):
            return False
        self.destination.update(wanted)
        if self._output.updated():
            self.retry_now()
        return True

    async def finish(self) -> None:
        """Ends the stream properly."""
        self.destination.stop.set()
        try:
            async with asyncio.timeout(self._output.finish_s):
                await asyncio.shield(self._task)
        except TimeoutError:
            self.abort()

    def abort(self) -> None:
        """Ends at once, as another one is to take over; again it cuts nothing short that is being closed."""
        if not self._aborted:
            self._aborted = True
            self._task.cancel()

    @property
    def over(self) -> bool:
        return self._task.done()

    async def ended(self) -> None:
        """Waits until everything is closed."""
        await asyncio.wait({self._task})


async def _discard(opening: asyncio.Task[DeliverySession]) -> None:
    """Cancels an opening that is no longer wanted, and closes what it may have opened meanwhile."""
    opening.cancel()
    (result,) = await asyncio.gather(opening, return_exceptions=True)
    if not isinstance(result, BaseException):
        await result.close()
