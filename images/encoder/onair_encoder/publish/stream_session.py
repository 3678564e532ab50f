"""A session that hands packets to a connection as they come, and watches what the peer acknowledges."""

from __future__ import annotations

import asyncio
import time
from typing import Any

from onair_crds.session_error import SessionError
from onair_encoder.publish.packet_connection import PacketConnection
from onair_encoder.publish.packet_feed import PacketFeed
from onair_encoder.publish.stillness import Stillness
from onair_encoder.publish.supplied_destination import SuppliedDestination

OPEN_TIMEOUT_S = 10.0
WATCH_S = 0.1
FIRST_BYTES_S = 0.02
SOON_S = 4.0
"""Some servers accept any stream first and check its key later: then they just close."""
ENOUGH_BYTES = 2000
"""So much of what was sent first must be acknowledged before a destination counts as connected."""


class StreamSession:
    def __init__(self, destination: SuppliedDestination, connection: PacketConnection) -> None:
        self._destination = destination
        self._connection = connection
        self._feed = PacketFeed(connection)

    async def run(self) -> None:
        connection, feed, fan_out = self._connection, self._feed, self._destination.fan_out
        for packet in fan_out.subscribe(feed):
            feed.packet(packet)
        await self._watch(connection, feed)
        fan_out.unsubscribe(feed)
        await connection.finish()

    async def close(self) -> None:
        self._destination.fan_out.unsubscribe(self._feed)
        self._destination.counters.queued_bytes = 0
        self._destination.sent(max(0, self._connection.written))
        self._connection.abort()

    async def _watch(self, connection: PacketConnection, feed: PacketFeed) -> None:
        """Watches progress until stopped, or until the video has outgrown the session.

        Raises:
            SessionError: the peer ended the session, or took nothing for longer than the timeout.
            Exception: a packet could not be handed over.
        """
        destination = self._destination
        stopped = asyncio.create_task(destination.stop.wait())
        ends: set[asyncio.Future[Any]] = {stopped, connection.closed}
        opened_at = time.monotonic()
        stillness = Stillness(WATCH_S, opened_at)
        base, acknowledged = connection.written, connection.acknowledged
        try:
            while True:
                await asyncio.wait(
                    ends,
                    timeout=WATCH_S if destination.is_connected else FIRST_BYTES_S,
                    return_when=asyncio.FIRST_COMPLETED,
                )
                if stopped.done() or feed.outgrown:
                    return
                if feed.error:
                    raise feed.error
                if connection.closed.done():
                    raise _ended(connection, opened_at)
                progress, at = connection.acknowledged, time.monotonic()
                self._count(connection, feed)
                moved = progress > acknowledged or connection.idle
                if moved:
                    enough = progress > acknowledged and progress >= min(base, ENOUGH_BYTES)
                    settled = at - opened_at >= connection.settle_s
                    if enough and destination.fan_out.has_media and settled:
                        destination.connected()
                    acknowledged = progress
                still_ms = stillness.look(at, progress=moved) * 1000
                timeout_ms = destination.wanted.timeout_ms
                if still_ms <= timeout_ms:
                    continue
                at_least_ms = 3 * max(connection.round_trip_ms, connection.grain_ms)
                if still_ms > at_least_ms:
                    limit_ms = max(timeout_ms, at_least_ms)
                    raise SessionError(f"stalled: {connection.server} took no bytes for {limit_ms:.0f} ms")
        finally:
            stopped.cancel()

    def _count(self, connection: PacketConnection, feed: PacketFeed) -> None:
        counters = self._destination.counters
        counters.dropped += feed.take_dropped()
        counters.queued_bytes = connection.unsent
        sent = self._destination.state.bytes_sent + min(connection.acknowledged, connection.written)
        counters.sent_bytes = max(counters.sent_bytes, sent)


def _ended(connection: PacketConnection, opened_at: float) -> SessionError:
    """Why the peer ended the session."""
    error = connection.closed.result()
    why, known = str(error), error.permanent or error.explained
    if not known and time.monotonic() - opened_at <= SOON_S:
        why += f" soon after it began; the {connection.key_name} may be refused or in use"
    return SessionError(why, permanent=error.permanent, closed_by_peer=True)
