"""Keeps one destination supplied: connects, delivers, notices a stall, backs off and tries again."""

from __future__ import annotations

import asyncio
import datetime as dt
import random
import time
from collections.abc import Callable
from typing import Any

from onair_crds.enums import ConnectState
from onair_crds.program import DestinationState, ProgramDestination
from onair_encoder.backoff import Backoff
from onair_encoder.fan_out import FanOut
from onair_encoder.flv import VIDEO, Packet
from onair_encoder.logs import log
from onair_encoder.rtmp import RtmpAddress, RtmpConnection, RtmpError

OPEN_TIMEOUT_S = 10.0
WATCH_S = 0.1
FIRST_BYTES_S = 0.02
STEADY_S = 10.0
"""A connection that held for so long starts the back-off anew."""
MAX_UNSENT_BYTES = 8 * 2**20


def now() -> str:
    """RFC 3339 UTC with milliseconds."""
    return dt.datetime.now(dt.UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


class Publisher:
    """One destination, whatever its kind: its state, and a task that works for it."""

    def __init__(self, destination: ProgramDestination, fan_out: FanOut, changed: Callable[[], None]) -> None:
        self.destination = destination
        self.state = DestinationState(
            id=destination.id,
            connect=ConnectState.DISCONNECTED,
            since=now(),
            generation=destination.generation,
        )
        self._fan_out = fan_out
        self._changed = changed
        self._stop = asyncio.Event()
        self._task = asyncio.create_task(self._run(), name=f"publish {destination.id}")

    async def _run(self) -> None:
        raise TypeError("a kind of destination says how it is supplied")

    def update(self, destination: ProgramDestination) -> bool:
        """Takes what may change without a new connection; False where that is not enough."""
        same = (destination.url, destination.type, _key(destination)) == (
            self.destination.url,
            self.destination.type,
            _key(self.destination),
        )
        if same:
            self.destination = destination
            self.state = self.state.model_copy(update={"generation": destination.generation})
        return same

    def _tell(self, connect: ConnectState, error: str | None) -> None:
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
            await asyncio.wait_for(asyncio.shield(self._task), 3.0)
        except TimeoutError:
            self.abort()

    def abort(self) -> None:
        """Ends at once, as another encoder is to take over."""
        self._task.cancel()


def _key(destination: ProgramDestination) -> str | None:
    return destination.key.get_secret_value() if destination.key else None


class UnavailablePublisher(Publisher):
    """A kind that this version does not deliver to: says so and does nothing."""

    async def _run(self) -> None:
        kind = self.destination.type
        self._tell(ConnectState.DISCONNECTED, f"delivery by {kind} is not available in this version")
        await self._stop.wait()


class RtmpPublisher(Publisher):
    """Delivers to an RTMP or RTMPS server."""

    async def _run(self) -> None:
        backoff = Backoff(random.uniform)
        while not self._stop.is_set():
            started = time.monotonic()
            self.state = self.state.model_copy(update={"attempts": self.state.attempts + 1})
            try:
                await self._deliver()
            except RtmpError as error:
                self._tell(ConnectState.DISCONNECTED, str(error))
            if time.monotonic() - started > STEADY_S:
                backoff.reset()
            try:
                await asyncio.wait_for(self._stop.wait(), backoff.next_s())
            except TimeoutError:
                continue

    async def _deliver(self) -> None:
        """One connection from its opening to its end.

        Raises:
            RtmpError: it could not be had, or ended other than by our stop.
        """
        connection = RtmpConnection(RtmpAddress.of(self.destination.url, _key(self.destination)))
        feed = _Feed(connection)
        try:
            try:
                await asyncio.wait_for(connection.open(), OPEN_TIMEOUT_S)
            except TimeoutError as error:
                raise RtmpError(f"no answer from {connection.address.server}") from error
            for packet in self._fan_out.subscribe(feed):
                connection.send(packet)
            await self._watch(connection)
            self._fan_out.unsubscribe(feed)
            await connection.finish()
        finally:
            self._fan_out.unsubscribe(feed)
            self.state = self.state.model_copy(
                update={"bytes_sent": self.state.bytes_sent + max(0, connection.written)}
            )
            connection.abort()

    async def _watch(self, connection: RtmpConnection) -> None:
        """Looks at progress until told to stop.

        Raises:
            RtmpError: the peer ended the session, or took nothing for longer than the time-out.
        """
        stop = asyncio.create_task(self._stop.wait())
        ends: set[asyncio.Future[Any]] = {stop, connection.closed}
        base, taken, moved_at = connection.written, connection.taken, time.monotonic()
        try:
            while True:
                connected = self.state.connect is ConnectState.CONNECTED
                await asyncio.wait(
                    ends,
                    timeout=WATCH_S if connected else FIRST_BYTES_S,
                    return_when=asyncio.FIRST_COMPLETED,
                )
                if stop.done():
                    return
                if connection.closed.done():
                    raise RtmpError(connection.closed.result())
                progress, at = connection.taken, time.monotonic()
                if progress > taken or progress >= connection.written:
                    if progress > taken and self._fan_out.has_media and progress >= min(base, 2000):
                        self._tell(ConnectState.CONNECTED, None)
                    taken, moved_at = progress, at
                limit_s = max(self.destination.timeout_ms, 3 * connection.round_trip_ms) / 1000
                if at - moved_at > limit_s:
                    raise RtmpError(
                        f"stalled: {connection.address.server} took no bytes for {limit_s * 1000:.0f} ms"
                    )
        finally:
            stop.cancel()


class _Feed:
    """Writes packets to a connection; where the peer is slow, drops up to the next key frame."""

    def __init__(self, connection: RtmpConnection) -> None:
        self._connection = connection
        self._dropping = False
        self.dropped = 0

    def packet(self, packet: Packet) -> None:
        connection = self._connection
        if connection.closed.done():
            return
        unsent = connection.unsent
        if self._dropping:
            if packet.keyframe and unsent < MAX_UNSENT_BYTES // 4:
                self._dropping = False
            elif not packet.header:
                self.dropped += 1
                return
        elif unsent > MAX_UNSENT_BYTES and packet.type == VIDEO:
            self._dropping = True
            self.dropped += 1
            return
        connection.send(packet)


KINDS: dict[str, type[Publisher]] = {
    "RTMP": RtmpPublisher,
    "RTMPS": RtmpPublisher,
    "SRT": UnavailablePublisher,
    "RTC": UnavailablePublisher,
    "HLS": UnavailablePublisher,
}
