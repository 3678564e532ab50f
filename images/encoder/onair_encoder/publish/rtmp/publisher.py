"""Delivers to an RTMP or RTMPS server."""

from __future__ import annotations

from onair_encoder.publish.rtmp.connection import RtmpAddress, RtmpConnection
from onair_encoder.publish.stream_publisher import Connection, StreamPublisher


class RtmpPublisher(StreamPublisher):
    def connection(self) -> Connection:
        key = self.destination.key
        address = RtmpAddress.of(self.destination.url, key.get_secret_value() if key else None)
        return RtmpConnection(address)
