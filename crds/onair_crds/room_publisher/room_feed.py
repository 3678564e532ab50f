"""Writes packets to a room's process; where that is slow, drops up to the next key frame."""

from __future__ import annotations

import time
from typing import Protocol

from onair_crds.media.flv import AUDIO, SCRIPT, VIDEO, Packet
from onair_crds.room_publisher.pipe import packet_message

MAX_UNSENT_BYTES = 4 * 2**20


class RoomPipe(Protocol):
    """Takes the messages of a feed."""

    @property
    def unsent(self) -> int:
        """Bytes that wait in this process."""

    def write(self, data: bytes) -> None:
        """Must not block."""


class RoomFeed:
    """Begins a session with the newest key frame and continues with the next one.

    What lies between is no longer live, and viewers join on a key frame anyway.
    """

    def __init__(self, pipe: RoomPipe) -> None:
        self._pipe = pipe
        self._waiting = True
        """For a key frame."""
        self._slow = False
        self._dropped = 0
        self.written = 0
        """Packets."""
        self.announced_at = 0.0
        """When the video changed its format; monotonic seconds."""

    def take_dropped(self) -> int:
        """Packets dropped since the last call."""
        dropped, self._dropped = self._dropped, 0
        return dropped

    def begin(self, first: list[Packet]) -> None:
        """Sends headers and the key frame of what a late subscriber is given."""
        for packet in first:
            if packet.header or packet.keyframe or packet.type not in (VIDEO, AUDIO):
                self._write(packet)

    def packet(self, packet: Packet) -> None:
        if packet.type == SCRIPT:
            self.announced_at = time.monotonic()
        if packet.type == VIDEO and not packet.header:
            if packet.keyframe:
                self._waiting = self._slow = self._pipe.unsent > MAX_UNSENT_BYTES // 4
            elif self._pipe.unsent > MAX_UNSENT_BYTES:
                self._waiting = self._slow = True
            if self._waiting:
                self._dropped += self._slow
                return
        elif self._pipe.unsent > MAX_UNSENT_BYTES and not packet.header:
            self._dropped += 1
            return
        self._write(packet)

    def _write(self, packet: Packet) -> None:
        self._pipe.write(packet_message(packet))
        self.written += 1
