"""Cuts the programme into MPEG-TS segments at key frames; audio without video, anywhere."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Collection
from dataclasses import dataclass

from onair_crds.media.flv import AUDIO, SCRIPT, VIDEO, Packet
from onair_crds.media.mpeg_ts import TransportStream

TOLERANCE_MS = 20
"""Times are rounded to milliseconds: a segment that short of its target is long enough."""
NOMINAL_FRAME_MS = 40
MOST_BYTES = 48 * 2**20
"""A segment that reaches this size ends there, and the rest up to the next key frame is dropped: the memory
of a container is not for key frames that are minutes apart."""


@dataclass(frozen=True)
class Cut:
    """One segment."""

    data: bytes | bytearray
    duration_s: float
    began: dt.datetime
    discontinuity: bool
    packets: int


class Segmenter:
    """Begins with the first key frame, or frame of audio if there is no video."""

    def __init__(
        self,
        target_ms: int,
        clock: Callable[[], dt.datetime],
        most_bytes: int = MOST_BYTES,
        types: Collection[int] = (VIDEO, AUDIO),
    ) -> None:
        """
        Args:
            most_bytes: of a segment; may be changed at any time.
            types: of packets that are taken.
        """
        self._types = types
        self._leading = VIDEO if VIDEO in types else AUDIO
        self.most_bytes = most_bytes
        self.target_ms = target_ms
        self._clock = clock
        self._stream = self._new_stream()
        self._configuration: dict[int, bytes] = {}
        self._script: Packet | None = None
        self._data = bytearray()
        self._packets = 0
        self._first_ms: int | None = None
        self._last_ms = 0
        self._zero: dt.datetime | None = None
        """When time 0 was, by this segment's most punctual packet: those of the GOP so far come late."""
        self._broken = False
        self._begins_anew = False
        """With the next key frame, as there are other codecs or nothing was taken for a while."""

    def put(self, packet: Packet) -> Cut | None:
        """Takes a packet; returns the segment that ends where it begins."""
        if packet.type == SCRIPT:
            self._script = packet
            self._stream.pack(packet)
            return None
        if packet.type not in self._types:
            return None
        if packet.header:
            known = self._configuration.get(packet.type)
            self._configuration[packet.type] = packet.body
            if known is not None and known != packet.body:
                self._begins_anew = True
            else:
                self._stream.pack(packet)
            return None
        cut = None
        if starts := packet.keyframe or self._leading == packet.type == AUDIO:
            if self._first_ms is None:
                if self._begins_anew:
                    self._restart_stream()
                self._begin(packet)
            elif self._begins_anew or packet.timestamp_ms - self._first_ms >= self.target_ms - TOLERANCE_MS:
                cut = self._end(packet.timestamp_ms)
                if self._begins_anew:
                    self._restart_stream()
                self._begin(packet)
        if self._first_ms is None:
            return cut
        if self._begins_anew and not starts:
            return cut  # of neither the old nor the new
        if len(self._data) > self.most_bytes:
            cut = self._end(self._last_ms + NOMINAL_FRAME_MS)
            self._broken = True
            return cut
        self._data += self._stream.pack(packet)
        self._packets += 1
        self._look_at_the_clock(packet)
        if packet.type == self._leading:
            self._last_ms = packet.timestamp_ms
        return cut

    def _new_stream(self) -> TransportStream:
        return TransportStream(filler=False, types=self._types)

    def _begin(self, packet: Packet) -> None:
        self._stream.begin()
        self._first_ms = packet.timestamp_ms
        self._zero = None

    def _look_at_the_clock(self, packet: Packet) -> None:
        zero = self._clock() - dt.timedelta(milliseconds=packet.timestamp_ms)
        self._zero = zero if self._zero is None else min(self._zero, zero)

    def _restart_stream(self) -> None:
        self._stream = self._new_stream()
        if self._script:
            self._stream.pack(self._script)
        for type_, body in self._configuration.items():
            self._stream.pack(Packet(type_, 0, body))
        self._begins_anew = False
        self._broken = True

    def _end(self, at_ms: int) -> Cut:
        first_ms = self._first_ms if self._first_ms is not None else at_ms
        began = (self._zero or self._clock()) + dt.timedelta(milliseconds=first_ms if self._zero else 0)
        cut = Cut(self._data, (at_ms - first_ms) / 1000, began, self._broken, self._packets)
        self._data, self._packets, self._broken = bytearray(), 0, False
        self._first_ms = None
        return cut

    def flush(self) -> Cut | None:
        """The segment that was begun, as it is now; None if there is none. What follows starts over."""
        self._begins_anew = True
        if self._first_ms is None or not self._data:
            return None
        return self._end(self._last_ms + NOMINAL_FRAME_MS)
