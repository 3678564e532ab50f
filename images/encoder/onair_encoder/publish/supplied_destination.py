"""One destination: what is wanted of it, and what is reported of it."""

from __future__ import annotations

import asyncio
import datetime as dt
import time
from collections.abc import Callable
from dataclasses import dataclass

from onair_crds.contract.program import DestinationState, ProgramDestination
from onair_crds.contract.times import format_time
from onair_crds.resources.enums import ConnectState
from onair_crds.runtime.stderr_log import log
from onair_encoder.media.fan_out import FanOut
from onair_encoder.publish.encoder_run import EncoderRun


def now() -> str:
    """RFC 3339 UTC with milliseconds."""
    return format_time(dt.datetime.now(dt.UTC))


@dataclass
class Counters:
    """For metrics. Totals since the destination was added, but for the queue."""

    sessions: int = 0
    """Sessions that got as far as being connected."""
    sent_bytes: int = 0
    dropped: int = 0
    """Packets dropped because the peer was too slow."""
    queued_bytes: int = 0
    """Waiting in this process now."""
    undeleted: int = 0
    """Old segments that a bucket refuses to delete."""


class SuppliedDestination:
    """Shared by a destination's publisher, its output and its sessions."""

    def __init__(
        self,
        wanted: ProgramDestination,
        fan_out: FanOut,
        changed: Callable[[], None],
        run: EncoderRun | None = None,
    ) -> None:
        """
        Args:
            changed: called whenever the reported state has changed.
        """
        self.wanted = wanted
        self.run = run or EncoderRun()
        self.fan_out = fan_out
        self.stop = asyncio.Event()
        """Set when the stream is to be ended properly."""
        self.hurry = False
        """Its end may take no longer than that of a stream: the pod is being deleted."""
        self.counters = Counters()
        self.state = DestinationState(
            id=wanted.id,
            connect=ConnectState.DISCONNECTED,
            since=now(),
            generation=wanted.generation,
        )
        self._changed = changed
        self._connected_at: float | None = None

    def update(self, wanted: ProgramDestination) -> None:
        self.wanted = wanted
        self.state = self.state.model_copy(update={"generation": wanted.generation})

    @property
    def timeout_s(self) -> float:
        return self.wanted.timeout_ms / 1000

    @property
    def is_connected(self) -> bool:
        return self.state.connect is ConnectState.CONNECTED

    @property
    def connected_s(self) -> float:
        """For how long the session of the last attempt has been connected; 0 where it never was."""
        return 0.0 if self._connected_at is None else time.monotonic() - self._connected_at

    def attempt(self) -> None:
        """Another session is about to be opened."""
        self._connected_at = None
        self.state = self.state.model_copy(update={"attempts": self.state.attempts + 1})

    def connected(self) -> None:
        """Media flows."""
        if self._connected_at is None:
            self._connected_at = time.monotonic()
        if not self.is_connected:
            self.counters.sessions += 1
        self._report(ConnectState.CONNECTED, None)

    def disconnected(self, error: str) -> None:
        self._report(ConnectState.DISCONNECTED, error)

    def ended(self) -> None:
        """Nothing flows any more, and nothing is to."""
        self._report(ConnectState.DISCONNECTED, None)

    def sent(self, more_bytes: int) -> None:
        self.state = self.state.model_copy(update={"bytes_sent": self.state.bytes_sent + more_bytes})

    def recorded(self, waiting_s: float, missing_s: float) -> None:
        """What of the programme waits, and what is missing."""
        before = self.state
        self.state = before.model_copy(
            update={"waiting_s": round(waiting_s, 1), "missing_s": round(missing_s, 1)}
        )
        if self.state.missing_s != before.missing_s:
            log("destination.incomplete", id=self.state.id, missing_s=self.state.missing_s)
            self._changed()

    def _report(self, connect: ConnectState, error: str | None) -> None:
        before = self.state
        if (connect, error) == (before.connect, before.last_error):
            return
        since = before.since if connect is before.connect else now()
        self.state = before.model_copy(update={"connect": connect, "since": since, "last_error": error})
        log("destination.state", id=self.state.id, connect=str(connect), error=error)
        self._changed()
