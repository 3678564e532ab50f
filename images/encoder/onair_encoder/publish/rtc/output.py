"""Delivers into a room of a provider of real-time communication, by a process of its own."""

from __future__ import annotations

import asyncio

from onair_crds.contract.program import ProgramDestination
from onair_crds.room_publisher.address import server_of
from onair_crds.room_publisher.pipe import Gone
from onair_crds.room_publisher.room_client import RoomClient
from onair_crds.room_publisher.video_flow import Rejoining
from onair_crds.session_error import SessionError
from onair_encoder.publish.output import DeliverySession, Output
from onair_encoder.publish.rtc.rtc_session import RtcSession
from onair_encoder.publish.supplied_destination import SuppliedDestination

JOIN_TIMEOUT_S = 10.0


class RtcOutput(Output):
    def __init__(self, destination: SuppliedDestination) -> None:
        super().__init__(destination)
        self._rejoining = Rejoining()
        """Outlives sessions."""

    def keeps_session(self, before: ProgramDestination, after: ProgramDestination) -> bool:
        """A token admits when a session begins; another one is used for the next."""
        if before.rtc and after.rtc:
            after = after.model_copy(update={"rtc": after.rtc.model_copy(update={"token": before.rtc.token})})
        return super().keeps_session(before, after)

    async def open(self) -> DeliverySession:
        rtc = self.destination.wanted.rtc
        if rtc is None:
            raise SessionError("no room is named", permanent=True)
        server = server_of(rtc.url)
        client = await RoomClient.start(rtc)
        try:
            await self._join(client, server)
        except BaseException:
            try:
                if self.destination.stop.is_set():
                    # It may be let in just now: a participant that does not leave stays in the room
                    await client.finish()
            finally:
                await client.close()
            raise
        return RtcSession(self.destination, client, self._rejoining, server)

    async def _join(self, client: RoomClient, server: str) -> None:
        """
        Raises:
            SessionError: the room could not be joined.
        """
        try:
            async with asyncio.timeout(JOIN_TIMEOUT_S):
                message = await client.message()
        except TimeoutError:
            raise SessionError(f"no response from {server}") from None
        if isinstance(message, Gone):
            raise message.error
