"""Delivers to an RTMP or RTMPS server."""

from __future__ import annotations

import asyncio

from onair_crds.contract.push_addresses import RtmpAddress
from onair_crds.session_error import SessionError
from onair_encoder.publish.output import DeliverySession, Output
from onair_encoder.publish.rtmp.connecting import open_streams
from onair_encoder.publish.rtmp.connection import RtmpConnection
from onair_encoder.publish.stream_session import OPEN_TIMEOUT_S, StreamSession

MIN_ACK_WINDOW, MAX_ACK_WINDOW = 2048, 256 * 1024
"""Bytes. Each acknowledgement wakes this process and the server."""


class RtmpOutput(Output):
    async def open(self) -> DeliverySession:
        wanted = self.destination.wanted
        address = RtmpAddress.of(wanted.url, wanted.key.get_secret_value() if wanted.key else None)
        try:
            async with asyncio.timeout(OPEN_TIMEOUT_S):
                streams = await open_streams(address, self.destination.run.inside)
                connection = await RtmpConnection.publish(address, streams, self._ack_window())
        except TimeoutError:
            raise SessionError(f"no response from {address.server}") from None
        return StreamSession(self.destination, connection)

    def _ack_window(self) -> int:
        """Several acknowledgements within the timeout, however low the bitrate."""
        within_timeout = self.destination.fan_out.bytes_per_s * self.destination.timeout_s
        return int(min(MAX_ACK_WINDOW, max(MIN_ACK_WINDOW, within_timeout / 4)))
