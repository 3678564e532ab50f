"""The programme's packets in the forms that rooms take: H.264 in Annex B form, sound as PCM."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

import av

from onair_encoder.media import amf
from onair_encoder.media.flv import Packet

SAMPLE_RATE_HZ = 48_000
CHANNELS = 2
CHUNK_SAMPLES = 480
"""10 ms: what libwebrtc takes at once."""

_START = b"\0\0\0\1"
_DELIMITER, _FILLER = 9, 12


@dataclass(frozen=True)
class Shape:
    """What the stream says of its picture."""

    width: int
    height: int
    framerate: float
    bitrate_bps: int


def shape_of(script: Packet) -> Shape | None:
    """From the stream's metadata; None where it says nothing of a picture."""
    try:
        said = next((value for value in amf.decode(script.body) if isinstance(value, dict)), {})
        width, height = int(said["width"]), int(said["height"])
    except (amf.AmfError, KeyError, TypeError, ValueError):
        return None
    rate_kbit = float(said.get("videodatarate") or 0.0)
    return Shape(width, height, float(said.get("framerate") or 30.0), round(rate_kbit * 1024))


def parameter_sets(header: Packet) -> bytes:
    """SPS and PPS of an AVC sequence header, in Annex B form (ISO/IEC 14496-15, 5.2.4.1).

    Raises:
        ValueError: it is cut short.
    """
    record, sets = header.body[5:], b""
    try:
        at = 5
        for mask in (0x1F, 0xFF):
            count, at = record[at] & mask, at + 1
            for _ in range(count):
                size = int.from_bytes(record[at : at + 2], "big")
                unit = record[at + 2 : at + 2 + size]
                if not size or len(unit) < size:
                    raise ValueError("the AVC sequence header is cut short")
                sets += _START + unit
                at += 2 + size
    except IndexError as error:
        raise ValueError("the AVC sequence header is cut short") from error
    return sets


def access_unit(packet: Packet, sets: bytes) -> bytes:
    """A frame in Annex B form, a key frame with its parameter sets before it.

    Filler, which keeps the rate constant for servers that want that, is left out:
    what a room's viewers receive is what is in the picture.
    """
    body, at = packet.body, 5
    units = [sets] if packet.keyframe else []
    while at + 4 < len(body):
        size = int.from_bytes(body[at : at + 4], "big")
        unit = body[at + 4 : at + 4 + size]
        at += 4 + size
        if unit and unit[0] & 0x1F not in (_DELIMITER, _FILLER):
            units.append(_START + unit)
    return b"".join(units)


class Sound:
    """AAC in, PCM of 16 bits in chunks of 10 ms out."""

    def __init__(self) -> None:
        self._configuration = b""
        self._decoder: av.AudioCodecContext | None = None
        self._resampler = self._new_resampler()

    @staticmethod
    def _new_resampler() -> av.AudioResampler:
        return av.AudioResampler("s16", "stereo", SAMPLE_RATE_HZ, frame_size=CHUNK_SAMPLES)

    def pcm(self, packet: Packet) -> Iterator[bytes]:
        """The sound that is complete now. What cannot be decoded is left out."""
        if packet.header:
            self._configure(packet.body[2:])
            return
        if not self._decoder:
            return
        try:
            for frame in self._decoder.decode(av.Packet(packet.body[2:])):
                frame.pts, frame.time_base = None, Fraction(1, SAMPLE_RATE_HZ)
                for chunk in self._resampler.resample(frame):
                    yield bytes(chunk.planes[0])[: CHUNK_SAMPLES * CHANNELS * 2]
        except av.FFmpegError:
            self._resampler = self._new_resampler()

    def _configure(self, configuration: bytes) -> None:
        if configuration == self._configuration:
            return
        decoder = av.AudioCodecContext.create("aac", "r")
        decoder.extradata = configuration
        self._configuration, self._decoder = configuration, decoder
        self._resampler = self._new_resampler()
