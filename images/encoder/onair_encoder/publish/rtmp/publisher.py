"""Delivers to an RTMP or RTMPS server, and notices when it takes nothing any more."""

from __future__ import annotations

import asyncio
import time
from typing import Any

from onair_crds.enums import ConnectState
from onair_encoder.flv import SCRIPT, VIDEO, Packet
from onair_encoder.publish.publisher import Publisher
from onair_encoder.publish.rtmp import amf
from onair_encoder.publish.rtmp.connection import RtmpAddress, RtmpConnection
from onair_encoder.publish.words import Lost

OPEN_TIMEOUT_S = 10.0
WATCH_S = 0.1
FIRST_BYTES_S = 0.02
MAX_UNSENT_BYTES = 8 * 2**20


class RtmpPublisher(Publisher):
    async def session(self) -> None:
        key = self.destination.key
        address = RtmpAddress.of(self.destination.url, key.get_secret_value() if key else None)
        connection = RtmpConnection(address)
        feed = _Feed(connection)
        try:
            try:
                await asyncio.wait_for(connection.open(), OPEN_TIMEOUT_S)
            except TimeoutError as error:
                raise Lost(f"no answer from {address.server}") from error
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

    async def _watch(self, connection: RtmpConnection, feed: _Feed) -> None:
        """Looks at progress until told to stop, or until the size of the picture changes.

        Raises:
            Lost: the peer ended the session, or took nothing for longer than the time-out.
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
                if stop.done() or feed.outgrown:
                    return
                if connection.closed.done():
                    raise connection.closed.result()
                progress, at = connection.taken, time.monotonic()
                self._count(connection, feed)
                if progress > taken or progress >= connection.written:
                    if progress > taken and self._fan_out.has_media and progress >= min(base, 2000):
                        self.connected()
                    taken, moved_at = progress, at
                limit_s = max(self.destination.timeout_ms, 3 * connection.round_trip_ms) / 1000
                if at - moved_at > limit_s:
                    raise Lost(
                        f"stalled: {connection.address.server} took no bytes for {limit_s * 1000:.0f} ms"
                    )
        finally:
            stop.cancel()

    def _count(self, connection: RtmpConnection, feed: _Feed) -> None:
        counters = self.counters
        counters.dropped += feed.take_dropped()
        counters.queued_bytes = connection.unsent


Size = tuple[object, object]


def picture_size(script: Packet) -> Size:
    """Width and height as `onMetaData` has them."""
    _, *values = amf.decode(script.body) or [None]
    known = values[0] if values and isinstance(values[0], dict) else {}
    return known.get("width"), known.get("height")


class _Feed:
    """Writes packets to a connection; where the peer is slow, drops up to the next key frame."""

    def __init__(self, connection: RtmpConnection) -> None:
        self._connection = connection
        self._dropping = False
        self._dropped = 0
        self._size: Size | None = None
        self.outgrown = False
        """The picture has another size now, which servers take in a new session only."""

    def take_dropped(self) -> int:
        """Packets that were dropped since it was asked last."""
        dropped, self._dropped = self._dropped, 0
        return dropped

    def packet(self, packet: Packet) -> None:
        connection = self._connection
        if connection.closed.done() or self.outgrown:
            return
        if packet.type == SCRIPT:
            size = picture_size(packet)
            self.outgrown = self._size not in (None, size)
            self._size = size
            if self.outgrown:
                return
        unsent = connection.unsent
        if self._dropping:
            if packet.keyframe and unsent < MAX_UNSENT_BYTES // 4:
                self._dropping = False
            elif not packet.header:
                self._dropped += 1
                return
        elif unsent > MAX_UNSENT_BYTES and packet.type == VIDEO:
            self._dropping = True
            self._dropped += 1
            return
        connection.send(packet)
