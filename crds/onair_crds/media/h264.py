"""H.264 as FLV carries it, in the byte stream format of Annex B (ISO/IEC 14496-10 and 14496-15)."""

from __future__ import annotations

from onair_crds.media.flv import Packet

START_CODE = b"\0\0\0\1"
DELIMITER, FILLER = 9, 12
"""Types of NAL units: access unit delimiter, filler data."""
_RECORD_AT = 5
"""Where the decoder configuration record begins in an AVC sequence header's body."""


def parameter_sets(header: Packet) -> bytes:
    """SPS and PPS of an AVC sequence header, in Annex B form (ISO/IEC 14496-15, 5.2.4.1).

    Raises:
        ValueError: it is cut short.
    """
    record, sets = header.body[_RECORD_AT:], b""
    try:
        at = 5
        for mask in (0x1F, 0xFF):
            count, at = record[at] & mask, at + 1
            for _ in range(count):
                size = int.from_bytes(record[at : at + 2], "big")
                unit = record[at + 2 : at + 2 + size]
                if not size or len(unit) < size:
                    raise ValueError("the AVC sequence header is cut short")
                sets += START_CODE + unit
                at += 2 + size
    except IndexError as error:
        raise ValueError("the AVC sequence header is cut short") from error
    return sets


def length_size(header: Packet) -> int:
    """How many bytes the length before each NAL unit takes."""
    return (header.body[_RECORD_AT + 4] & 3) + 1


def access_unit(packet: Packet, sets: bytes) -> bytes:
    """A frame in Annex B form, a key frame with its parameter sets before it.

    Filler, which keeps the bitrate constant for servers that want that, is dropped:
    what a room's viewers receive is what is in the frame.
    """
    body, at = packet.body, 5
    units = [sets] if packet.keyframe else []
    while at + 4 < len(body):
        size = int.from_bytes(body[at : at + 4], "big")
        unit = body[at + 4 : at + 4 + size]
        at += 4 + size
        if unit and unit[0] & 0x1F not in (DELIMITER, FILLER):
            units.append(START_CODE + unit)
    return b"".join(units)
