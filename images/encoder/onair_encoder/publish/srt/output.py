"""Delivers to an SRT listener."""

from __future__ import annotations

import asyncio

from onair_crds.contract.push_addresses import SrtAddress
from onair_crds.session_error import SessionError
from onair_encoder.publish.output import DeliverySession, Output
from onair_encoder.publish.srt.connection import SrtConnection
from onair_encoder.publish.srt.encryption import checked_passphrase
from onair_encoder.publish.stream_session import OPEN_TIMEOUT_S, StreamSession

MAX_REPORT_MS = 200.0
"""Progress is reported so often, and several times within the timeout."""


class SrtOutput(Output):
    async def open(self) -> DeliverySession:
        wanted = self.destination.wanted
        address = SrtAddress.of(wanted.url, wanted.key.get_secret_value() if wanted.key else None)
        passphrase = checked_passphrase(wanted.passphrase.get_secret_value() if wanted.passphrase else None)
        report_ms = min(MAX_REPORT_MS, wanted.timeout_ms / 4)
        connection = SrtConnection(address, passphrase, report_ms, self.destination.run.inside)
        try:
            async with asyncio.timeout(OPEN_TIMEOUT_S):
                await connection.open()
        except TimeoutError:
            connection.abort()
            raise SessionError(f"no response from {address.server}") from None
        except BaseException:
            connection.abort()
            raise
        return StreamSession(self.destination, connection)
