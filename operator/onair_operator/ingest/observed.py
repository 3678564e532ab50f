"""Gateways and the streams that they report, as plans see them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from onair_crds.contract.ingest_gateway import StreamState


class GatewayContact(StrEnum):
    """What is known of a gateway."""

    AWAITED = "Awaited"
    """It has not told its streams to this process yet, and has not had the time to."""
    REACHABLE = "Reachable"
    """Its streams are known, or were until a moment ago."""
    UNREACHABLE = "Unreachable"
    """It has been silent for too long: nothing is known of its streams."""


@dataclass(frozen=True)
class GatewayView:
    """One gateway as it is known."""

    name: str
    region: str
    contact: GatewayContact
    heard_s: float = 0.0
    """When it last said something, by this process's monotonic clock."""


@dataclass(frozen=True)
class Sighting:
    """One stream at one gateway; one that has ended is seen for as long as that is remembered."""

    gateway: GatewayView
    state: StreamState
    came_s: float = 0.0
    """When this process learned that it is there, by the same clock."""

    @property
    def online(self) -> bool:
        """Whether a publisher, or a pull, is connected there for certain."""
        return self.state.online and self.gateway.contact is GatewayContact.REACHABLE

    @property
    def flowing(self) -> bool:
        return self.online and self.state.flowing
