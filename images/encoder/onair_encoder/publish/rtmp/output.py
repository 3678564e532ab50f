"""Delivers to an RTMP or RTMPS server."""

from __future__ import annotations

from onair_encoder.publish.rtmp.connection import RtmpAddress, RtmpConnection
from onair_encoder.publish.stream_session import Connection, StreamPublisher

MIN_ACK_WINDOW, MAX_ACK_WINDOW = 2048, 256 * 1024
"""Bytes. Each acknowledgement wakes this process and the server."""


class RtmpPublisher(StreamPublisher):
    def connection(self) -> Connection:
        key = self.destination.key
        address = RtmpAddress.of(self.destination.url, key.get_secret_value() if key else None)
        return RtmpConnection(address, self._ack_window())

    def _ack_window(self) -> int:
        """Several acknowledgements within the time-out, however low the rate."""
        in_time_out = self._fan_out.bytes_per_s * self.destination.timeout_ms / 1000
        return int(min(MAX_ACK_WINDOW, max(MIN_ACK_WINDOW, in_time_out / 4)))
