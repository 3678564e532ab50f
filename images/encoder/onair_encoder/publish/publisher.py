"""Keeps one destination supplied: a session, and after its end another, with back-off. Kinds in kinds.py."""

from __future__ import annotations

import asyncio
import datetime as dt
import random
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass

from onair_crds.contract.program import DestinationState, ProgramDestination
from onair_crds.contract.times import format_time
from onair_crds.resources.enums import ConnectState
from onair_encoder.logs import log
from onair_encoder.media.fan_out import FanOut
from onair_encoder.publish.backoff import LONGEST_S, Backoff
from onair_encoder.publish.session_error import SessionError

STEADY_S = 10.0
"""A session that was connected for so long starts the back-off anew."""


def now() -> str:
    """RFC 3339 UTC with milliseconds."""
    return format_time(dt.datetime.now(dt.UTC))


@dataclass
class Counters:
    """What a destination has come to; for metrics. Totals since it was added, but for the queue."""

    sessions: int = 0
    """Sessions that came to be connected."""
    sent_bytes: int = 0
    dropped: int = 0
    """Packets that were left out as the peer was too slow."""
    queued_bytes: int = 0
    """Waiting in this process now."""


class Publisher(ABC):
    """One destination, whatever its kind: its state, and a task that works for it.

    A kind says in `session` how it is supplied. All else is here: states,
    attempts, back-off, ends.
    """

    finish_s = 3.0
    """How long a proper end may take."""

    def __init__(
        self,
        destination: ProgramDestination,
        fan_out: FanOut,
        changed: Callable[[], None],
        broadcast: str = "",
    ) -> None:
        self.destination = destination
        self.broadcast = broadcast
        """Id of the run."""
        self.counters = Counters()
        self.state = DestinationState(
            id=destination.id,
            connect=ConnectState.DISCONNECTED,
            since=now(),
            generation=destination.generation,
        )
        self._fan_out = fan_out
        self._changed = changed
        self._stop = asyncio.Event()
        self._again = asyncio.Event()
        self._steady_since: float | None = None
        """Since when this session is connected."""
        self._task = asyncio.create_task(self._run(), name=f"publish {destination.id}")

    @abstractmethod
    async def session(self) -> None:
        """One session from its opening to its proper end.

        That is when `_stop` is set, or when another session is needed at once.
        Calls `connected()` once media is known to flow. When cancelled it closes at once.

        Raises:
            SessionError: it could not be had, or ended.
        """

    async def _run(self) -> None:
        backoff = Backoff(random.uniform)
        while not self._stop.is_set():
            self._steady_since = None
            self.state = self.state.model_copy(update={"attempts": self.state.attempts + 1})
            lost: SessionError | None = None
            try:
                await self.session()
            except SessionError as error:
                lost = error
            except Exception as error:  # noqa: BLE001  a destination costs no other one anything
                log("destination.failed", id=self.state.id, error=type(error).__name__)
                lost = SessionError(f"internal error ({type(error).__name__})")
            if self._stop.is_set():
                break
            if lost is None:
                continue
            if self._steady_since is not None and time.monotonic() - self._steady_since > STEADY_S:
                backoff.reset()
            wait_s = backoff.next_s(permanent=lost.permanent)
            slowly = f"; tried again every {LONGEST_S:.0f} s" if lost.permanent else ""
            self.tell(ConnectState.DISCONNECTED, f"{lost}{slowly}")
            self._again.clear()
            wakers = [asyncio.create_task(each.wait()) for each in (self._stop, self._again)]
            try:
                await asyncio.wait(wakers, timeout=wait_s, return_when=asyncio.FIRST_COMPLETED)
            finally:
                for waker in wakers:
                    waker.cancel()

    def retry_now(self) -> None:
        """Something was changed that may mend what is wrong."""
        self._again.set()

    def update(self, destination: ProgramDestination) -> bool:
        """Takes what may change without a new session; False where that is not enough."""
        if not self.same_session(self.destination, destination):
            return False
        self.destination = destination
        self.state = self.state.model_copy(update={"generation": destination.generation})
        return True

    def same_session(self, before: ProgramDestination, after: ProgramDestination) -> bool:
        """Whether what changed can be taken without a new session: by default the time-out alone."""
        return before == after.model_copy(
            update={"timeout_ms": before.timeout_ms, "generation": before.generation}
        )

    def connected(self) -> None:
        """Media flows."""
        if self._steady_since is None:
            self._steady_since = time.monotonic()
        if self.state.connect is not ConnectState.CONNECTED:
            self.counters.sessions += 1
        self.tell(ConnectState.CONNECTED, None)

    def tell(self, connect: ConnectState, error: str | None) -> None:
        """Changes the state, and says so where it is another."""
        before = self.state
        if (connect, error) == (before.connect, before.last_error):
            return
        since = before.since if connect is before.connect else now()
        self.state = before.model_copy(update={"connect": connect, "since": since, "last_error": error})
        log("destination.state", id=self.state.id, connect=str(connect), error=error)
        self._changed()

    async def finish(self) -> None:
        """Ends the stream properly."""
        self._stop.set()
        try:
            await asyncio.wait_for(asyncio.shield(self._task), self.finish_s)
        except TimeoutError:
            self.abort()

    def abort(self) -> None:
        """Ends at once, as another encoder is to take over."""
        self._task.cancel()
