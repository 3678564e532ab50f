"""Previews in rooms, as plans want them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from onair_crds.room_server.credentials import CredentialsReader


@dataclass(frozen=True)
class ShownSource:
    """A source that is shown in a room."""

    source: str
    """Also its identity there."""
    gateway: str
    stream: str
    display_name: str


@dataclass(frozen=True)
class ShownPreviews:
    """All that a room shows."""

    opening: int = 0
    """Of the room."""
    previews: frozenset[ShownSource] = frozenset()

    def at(self, gateway: str) -> ShownPreviews:
        """Those that a gateway publishes."""
        mine = frozenset(each for each in self.previews if each.gateway == gateway)
        return ShownPreviews(self.opening, mine)


@dataclass(frozen=True)
class GatewayRoomAccess:
    """How gateways are let into rooms."""

    url: str
    """HTTP address of the room server."""
    credentials: CredentialsReader
    exists: Callable[[str], bool]
    """Whether there is a project that has a room of this name."""

    @property
    def websocket_url(self) -> str:
        """`ws://…` or `wss://…`."""
        return "ws" + self.url.removeprefix("http")
