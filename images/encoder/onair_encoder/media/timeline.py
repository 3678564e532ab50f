"""One clock across restarts of ffmpeg: timestamps continue where they were and never go back."""

from __future__ import annotations

from onair_crds.media.flv import SCRIPT, Packet


class Timeline:
    def __init__(self) -> None:
        self._last_ms = -1
        self._last_at_s = 0.0
        self._offset_ms: int | None = None

    def restart(self) -> None:
        """A new stream begins; its first frame says where its own clock starts."""
        self._offset_ms = None

    def place(self, packet: Packet, now_s: float) -> Packet:
        """The packet with its time on this clock, in milliseconds.

        Args:
            now_s: a monotonic time; what passed between two streams passes on the clock too.
        """
        if packet.type == SCRIPT or (packet.header and self._offset_ms is None):
            # Headers of a stream that is resumed are at 0, whatever time its media are at
            return Packet(packet.type, max(self._last_ms, 0), packet.body)
        if self._offset_ms is None:
            if self._last_ms < 0:
                begin_ms = 0
            else:
                begin_ms = self._last_ms + max(1, round((now_s - self._last_at_s) * 1000))
            self._offset_ms = begin_ms - packet.timestamp_ms
        time_ms = max(0, packet.timestamp_ms + self._offset_ms)
        if packet.header:
            time_ms = max(time_ms, self._last_ms, 0)
        elif time_ms >= self._last_ms:
            self._last_ms, self._last_at_s = time_ms, now_s
        return Packet(packet.type, time_ms, packet.body)
