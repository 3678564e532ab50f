"""The connection that a session of packets uses, of whatever protocol."""

from __future__ import annotations

import asyncio
from typing import Protocol

from onair_crds.session_error import SessionError
from onair_encoder.publish.packet_feed import PacketSink


class PacketConnection(PacketSink, Protocol):
    """An open connection to a server that takes packets as they come."""

    key_name: str
    """Its users' word for the secret that admits a publisher."""
    grain_ms: float
    """How old its report of progress may be."""
    settle_s: float
    """How long a session must have held before it counts as connected."""
    closed: asyncio.Future[SessionError]
    """Done with the reason when the peer ends the session."""
    written: int
    """Bytes that were given to it."""

    @property
    def server(self) -> str:
        """`host:port`."""

    @property
    def unsent(self) -> int:
        """Bytes that wait in this process."""

    @property
    def acknowledged(self) -> int:
        """Bytes that the peer has acknowledged; grows with progress and with nothing else."""

    @property
    def idle(self) -> bool:
        """All that was given has been acknowledged, so that no progress is due."""

    @property
    def round_trip_ms(self) -> float:
        """The time that an acknowledgement takes."""

    async def finish(self) -> None:
        """Ends the stream as the protocol prescribes, then closes."""

    def abort(self) -> None:
        """Closes at once."""
