"""Hands packets to a connection as they come; where the peer is slow, drops up to the next key frame."""

from __future__ import annotations

from typing import Protocol

from onair_encoder.media import amf
from onair_encoder.media.flv import SCRIPT, VIDEO, Packet

Size = tuple[object, object]


def picture_size(script: Packet) -> Size:
    """Width and height as `onMetaData` has them."""
    _, *values = amf.decode(script.body) or [None]
    known = values[0] if values and isinstance(values[0], dict) else {}
    return known.get("width"), known.get("height")


class Outlet(Protocol):
    """What a feed writes to."""

    one_size: bool
    """The peer takes one size of the picture for as long as the session lasts."""

    @property
    def over(self) -> bool:
        """The session has ended."""

    @property
    def congested(self) -> bool:
        """So much waits that pictures must be left out."""

    @property
    def relieved(self) -> bool:
        """So little waits that pictures may go out again."""

    def send(self, packet: Packet) -> None:
        """Takes a packet; must not block."""


class Feed:
    def __init__(self, outlet: Outlet) -> None:
        self._outlet = outlet
        self._dropping = False
        self._dropped = 0
        self._size: Size | None = None
        self.outgrown = False
        """The picture has another size now, and this outlet takes it in a new session only."""

    def take_dropped(self) -> int:
        """Packets that were dropped since it was asked last."""
        dropped, self._dropped = self._dropped, 0
        return dropped

    def packet(self, packet: Packet) -> None:
        outlet = self._outlet
        if outlet.over or self.outgrown:
            return
        if packet.type == SCRIPT and outlet.one_size:
            size = picture_size(packet)
            self.outgrown = self._size not in (None, size)
            self._size = size
            if self.outgrown:
                return
        if self._dropping:
            if packet.keyframe and outlet.relieved:
                self._dropping = False
            elif not packet.header:
                self._dropped += 1
                return
        elif packet.type == VIDEO and not packet.header and outlet.congested:
            self._dropping = True
            self._dropped += 1
            return
        outlet.send(packet)
