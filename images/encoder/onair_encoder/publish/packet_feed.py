"""Hands packets to a connection as they come; drops frames up to a key frame where the peer is slow."""

from __future__ import annotations

from typing import Protocol

from onair_crds.media.flv import AUDIO, SCRIPT, VIDEO, Packet
from onair_crds.media.stream_metadata import FrameSize, frame_size


class PacketSink(Protocol):
    """Takes the packets of a feed."""

    one_size: bool
    """The peer takes one frame size for as long as the session lasts."""
    audio_continues: bool
    """Audio is sent while frames are dropped."""

    @property
    def over(self) -> bool:
        """The session has ended."""

    @property
    def worn_out(self) -> bool:
        """The session cannot take later times; another one continues with the next key frame."""

    @property
    def congested(self) -> bool:
        """So much waits that frames must be dropped."""

    @property
    def relieved(self) -> bool:
        """So little waits that frames may go out again."""

    def send(self, packet: Packet) -> None:
        """Takes a packet; must not block."""


class PacketFeed:
    """Feeds one connection with packets."""

    def __init__(self, sink: PacketSink) -> None:
        self._sink = sink
        self._begun = False
        """Whether there was a key frame, before which no player shows anything."""
        self._dropping = False
        self._dropped = 0
        self._size: FrameSize | None = None
        self.outgrown = False
        """What comes now goes into a new session only: frames of another size, or later times."""
        self.error: Exception | None = None
        """Why nothing is handed over any more."""

    def take_dropped(self) -> int:
        """Packets dropped since the last call."""
        dropped, self._dropped = self._dropped, 0
        return dropped

    def packet(self, packet: Packet) -> None:
        if self._sink.over or self.outgrown or self.error:
            return
        try:
            self._pass_on(packet)
        except Exception as error:  # noqa: BLE001  its session ends with it
            self.error = error

    def _pass_on(self, packet: Packet) -> None:
        sink = self._sink
        if packet.keyframe and sink.worn_out:
            self.outgrown = True
            return
        if packet.type == SCRIPT and sink.one_size:
            size = frame_size(packet)
            self.outgrown = self._size not in (None, size)
            self._size = size
            if self.outgrown:
                return
        if packet.type == VIDEO and not packet.header and not self._begun:
            # As after a key frame that was too long ago to be handed over
            if not packet.keyframe:
                return
            self._begun = True
        if self._dropping:
            if packet.keyframe and sink.relieved:
                self._dropping = False
            elif not (packet.header or (packet.type == AUDIO and sink.audio_continues)):
                self._dropped += 1
                return
        elif packet.type == VIDEO and not packet.header and sink.congested:
            self._dropping = True
            self._dropped += 1
            return
        sink.send(packet)
