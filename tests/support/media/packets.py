"""Packets of a programme that no decoder would take, and a subscriber that keeps them."""

from __future__ import annotations

from onair_crds.media.flv import AUDIO, VIDEO, Packet

KEY, DELTA = b"\x17\x01\0\0\0key", b"\x27\x01\0\0\0delta"
AVC_HEADER, AAC_HEADER, SOUND = b"\x17\x00\0\0\0avcc", b"\xaf\x00\x11\x90", b"\xaf\x01sound"

SPS, PPS = b"\x67sps", b"\x68pps"
RECORD = b"\x01\x42\xc0\x1e\xff\xe1\0\x04" + SPS + b"\x01\0\x04" + PPS
"""An AVC decoder configuration record of well-formed parameter sets."""
VIDEO_HEADER = Packet(VIDEO, 0, b"\x17\0\0\0\0" + RECORD)
AUDIO_HEADER = Packet(AUDIO, 0, AAC_HEADER)


def frame(*units: bytes, keyframe: bool = False, at_ms: int = 0) -> Packet:
    """A frame of these NAL units."""
    body = b"".join(len(unit).to_bytes(4, "big") + unit for unit in units)
    return Packet(VIDEO, at_ms, (b"\x17" if keyframe else b"\x27") + b"\x01\0\0\0" + body)


def picture(time_ms: int, data: bytes, *, key: bool = False) -> Packet:
    """A frame of one coded slice."""
    return frame((b"\x65" if key else b"\x41") + data, keyframe=key, at_ms=time_ms)


def sound(time_ms: int, data: bytes) -> Packet:
    return Packet(AUDIO, time_ms, b"\xaf\x01" + data)


class Collector:
    """A subscriber that keeps what it is given."""

    def __init__(self) -> None:
        self.packets: list[Packet] = []

    def packet(self, packet: Packet) -> None:
        self.packets.append(packet)

    def media(self, type_: int = VIDEO) -> list[Packet]:
        return [p for p in self.packets if p.type == type_ and not p.header]
