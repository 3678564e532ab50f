"""Keeps one destination supplied: one session after another, with back-off in between."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable

from onair_crds.contract.program import ProgramDestination
from onair_crds.runtime.stderr_log import log
from onair_encoder.media.fan_out import FanOut
from onair_encoder.publish.backoff import LONGEST_S, Backoff
from onair_encoder.publish.destination import Destination
from onair_encoder.publish.output import Output, Session
from onair_encoder.publish.session_error import SessionError

STEADY_S = 10.0
"""A session that was connected for longer resets the back-off."""


class Publisher:
    """Runs a destination's output, whatever its kind, in a task of its own."""

    def __init__(
        self,
        kind: type[Output],
        wanted: ProgramDestination,
        fan_out: FanOut,
        changed: Callable[[], None],
        broadcast: str = "",
    ) -> None:
        self.destination = Destination(wanted, fan_out, changed, broadcast)
        self._output = kind(self.destination)
        self._retry = asyncio.Event()
        self._task = asyncio.create_task(self._run(), name=f"publish {wanted.id}")

    async def _run(self) -> None:
        try:
            await self._output.begin()
            await self._supply()
            await self._output.conclude()
        except Exception as error:  # noqa: BLE001  one destination must not affect the others
            self.destination.disconnected(str(self._internal(error)))
        finally:
            await self._output.close()

    async def _supply(self) -> None:
        destination, backoff = self.destination, Backoff(random.uniform)
        while not destination.stop.is_set():
            destination.attempt()
            error = await self._session()
            if destination.stop.is_set():
                return
            if error is None:
                continue
            if destination.connected_s > STEADY_S:
                backoff.reset()
            wait_s = backoff.next_s(permanent=error.permanent)
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

    async def _open(self) -> Session | None:
        """None where it was stopped before there was a session.

        Raises:
            SessionError: none could be opened.
        """
        opening = asyncio.create_task(self._output.open())
        stopped = asyncio.create_task(self.destination.stop.wait())
        session: Session | None = None
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

    async def _pause(self, wait_s: float) -> None:
        self._retry.clear()
        wakers = [asyncio.create_task(each.wait()) for each in (self.destination.stop, self._retry)]
        try:
            await asyncio.wait(wakers, timeout=wait_s, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for waker in wakers:
                waker.cancel()

    def retry_now(self) -> None:
        """Ends a pause: something has changed that may fix what is wrong."""
        self._retry.set()

    def update(self, wanted: ProgramDestination) -> bool:
        """Applies a change that takes no new session; False where it takes one."""
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
            await asyncio.wait_for(asyncio.shield(self._task), self._output.finish_s)
        except TimeoutError:
            self.abort()

    def abort(self) -> None:
        """Ends at once, as another encoder is to take over."""
        self._task.cancel()


async def _discard(opening: asyncio.Task[Session]) -> None:
    """Cancels an opening that is no longer wanted, and closes what it may have opened meanwhile."""
    opening.cancel()
    (result,) = await asyncio.gather(opening, return_exceptions=True)
    if not isinstance(result, BaseException):
        await result.close()
