"""Delivers to an SRT listener."""

from __future__ import annotations

from onair_encoder.publish.srt.address import SrtAddress, checked_passphrase
from onair_encoder.publish.srt.connection import SrtConnection
from onair_encoder.publish.stream_session import Connection, StreamPublisher

MAX_REPORT_MS = 200.0
"""Progress is told so often, and several times within the time-out."""


class SrtPublisher(StreamPublisher):
    def connection(self) -> Connection:
        key, passphrase = self.destination.key, self.destination.passphrase
        address = SrtAddress.of(self.destination.url, key.get_secret_value() if key else None)
        return SrtConnection(
            address,
            checked_passphrase(passphrase.get_secret_value() if passphrase else None),
            min(MAX_REPORT_MS, self.destination.timeout_ms / 4),
        )
