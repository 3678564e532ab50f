"""What destinations have in common that take the packets as they come: open, feed, watch progress, end."""

from __future__ import annotations

import asyncio
import time
from abc import abstractmethod
from typing import Any, Protocol

from onair_crds.resources.enums import ConnectState
from onair_encoder.publish.feed import Feed, Outlet
from onair_encoder.publish.publisher import Publisher
from onair_encoder.publish.session_error import SessionError

OPEN_TIMEOUT_S = 10.0
WATCH_S = 0.1
FIRST_BYTES_S = 0.02
SOON_S = 4.0
"""Some servers agree to any stream first and look at its key later: then they just close."""
ENOUGH_BYTES = 2000
"""So much of what was sent first must have been taken before a destination counts as connected."""


class Connection(Outlet, Protocol):
    """A session with a server, of whatever protocol."""

    key_name: str
    """What people call what admits to the server."""
    grain_ms: float
    """How old what it says of progress may be."""
    settle_s: float
    """For how long a session must have held before it counts as connected."""
    closed: asyncio.Future[SessionError]
    """Done with the reason when the peer ends the session."""
    written: int
    """Bytes that were given to it."""

    @property
    def server(self) -> str:
        """`host:port`."""

    @property
    def unsent(self) -> int:
        """Bytes that wait in this process."""

    @property
    def taken(self) -> int:
        """Bytes that the peer has acknowledged; grows with progress and with nothing else."""

    @property
    def idle(self) -> bool:
        """All that was given has been acknowledged, so that no progress is due."""

    @property
    def round_trip_ms(self) -> float:
        """The time that an acknowledgement takes."""

    async def open(self) -> None:
        """
        Raises:
            SessionError: the server cannot be had, or refuses.
        """

    async def finish(self) -> None:
        """Ends the stream as the protocol has it, then closes."""

    def abort(self) -> None:
        """Closes at once."""


class StreamPublisher(Publisher):
    @abstractmethod
    def connection(self) -> Connection:
        """A connection that is yet to be opened.

        Raises:
            SessionError: the destination cannot be understood.
        """

    async def session(self) -> None:
        connection = self.connection()
        feed = Feed(connection)
        try:
            if not await self._open(connection):
                return
            for packet in self._fan_out.subscribe(feed):
                feed.packet(packet)
            await self._watch(connection, feed)
            self._fan_out.unsubscribe(feed)
            await connection.finish()
        finally:
            self._fan_out.unsubscribe(feed)
            self.counters.queued_bytes = 0
            self.state = self.state.model_copy(
                update={"bytes_sent": self.state.bytes_sent + max(0, connection.written)}
            )
            connection.abort()

    async def _open(self, connection: Connection) -> bool:
        """False where it was told to stop before there was a session.

        Raises:
            SessionError: there is none to be had.
        """
        opening = asyncio.create_task(connection.open())
        stop = asyncio.create_task(self._stop.wait())
        waited: set[asyncio.Task[Any]] = {opening, stop}
        try:
            await asyncio.wait(waited, timeout=OPEN_TIMEOUT_S, return_when=asyncio.FIRST_COMPLETED)
            if opening.done():
                opening.result()
                return True
            if stop.done():
                return False
            raise SessionError(f"no answer from {connection.server}")
        finally:
            opening.cancel()
            stop.cancel()

    async def _watch(self, connection: Connection, feed: Feed) -> None:
        """Looks at progress until told to stop, or until the picture has outgrown the session.

        Raises:
            SessionError: the peer ended the session, or took nothing for longer than the time-out.
        """
        stop = asyncio.create_task(self._stop.wait())
        ends: set[asyncio.Future[Any]] = {stop, connection.closed}
        opened_at = moved_at = time.monotonic()
        base, taken = connection.written, connection.taken
        try:
            while True:
                connected = self.state.connect is ConnectState.CONNECTED
                await asyncio.wait(
                    ends,
                    timeout=WATCH_S if connected else FIRST_BYTES_S,
                    return_when=asyncio.FIRST_COMPLETED,
                )
                if stop.done() or feed.outgrown:
                    return
                if connection.closed.done():
                    raise _ended(connection, opened_at)
                progress, at = connection.taken, time.monotonic()
                self._count(connection, feed)
                if progress > taken or connection.idle:
                    enough = progress > taken and progress >= min(base, ENOUGH_BYTES)
                    if enough and self._fan_out.has_media and at - opened_at >= connection.settle_s:
                        self.connected()
                    taken, moved_at = progress, at
                still_ms = (at - moved_at) * 1000
                if still_ms <= self.destination.timeout_ms:
                    continue
                at_least_ms = 3 * max(connection.round_trip_ms, connection.grain_ms)
                limit_s = max(self.destination.timeout_ms, at_least_ms) / 1000
                if still_ms > at_least_ms:
                    raise SessionError(
                        f"stalled: {connection.server} took no bytes for {limit_s * 1000:.0f} ms"
                    )
        finally:
            stop.cancel()

    def _count(self, connection: Connection, feed: Feed) -> None:
        counters = self.counters
        counters.dropped += feed.take_dropped()
        counters.queued_bytes = connection.unsent
        sent = self.state.bytes_sent + min(connection.taken, connection.written)
        counters.sent_bytes = max(counters.sent_bytes, sent)


def _ended(connection: Connection, opened_at: float) -> SessionError:
    """Why the peer ended the session."""
    lost = connection.closed.result()
    if lost.permanent or time.monotonic() - opened_at > SOON_S:
        return lost
    return SessionError(f"{lost} soon after it began; the {connection.key_name} may be refused or in use")
