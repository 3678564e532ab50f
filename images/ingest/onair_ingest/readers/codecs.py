"""What RTMP messages say of codecs: configurations and access units. Pure (Adobe FLV 10.1, annex E)."""

from __future__ import annotations

from dataclasses import dataclass

from onair_crds.contract.access_units import AudioConfig, UnitKind, VideoConfig, config_payload

AUDIO, VIDEO = 8, 9
"""Types of RTMP messages."""
_AVC, _AAC = 7, 10
_CONFIG, _MEDIA = 0, 1
_VIDEO_HEADER, _AUDIO_HEADER = 5, 2
_KEY_FRAME = 1
_EXPLICIT_RATE = 15
_RATES = (96000, 88200, 64000, 48000, 44100, 32000, 24000, 22050, 16000, 12000, 11025, 8000, 7350)
_CHANNELS = (0, 1, 2, 3, 4, 5, 6, 8)
_ESCAPE, _SBR, _PS = 31, 5, 29
"""Audio object types of ISO/IEC 14496-3."""


class Unsupported(Exception):
    """A page cannot decode this."""


@dataclass(frozen=True, slots=True)
class Unit:
    """A configuration or an access unit, before it is placed in time."""

    kind: UnitKind
    payload: bytes
    key: bool = False
    composition_ms: int = 0
    """How much later than it is decoded it is shown."""


def unit_of(type_: int, body: bytes) -> Unit | None:
    """What a message holds; None if it is nothing that is decoded.

    Raises:
        Unsupported: the codec is none that pages decode.
        ValueError: it is cut short, or damaged.
    """
    if type_ == VIDEO and len(body) >= _VIDEO_HEADER:
        return _video(body)
    if type_ == AUDIO and len(body) >= _AUDIO_HEADER:
        return _audio(body)
    return None


def _video(body: bytes) -> Unit | None:
    if body[0] & 0x80 or body[0] & 0x0F != _AVC:
        raise Unsupported("video that is not H.264")
    if body[1] == _CONFIG:
        description = body[_VIDEO_HEADER:]
        return Unit(UnitKind.VIDEO_CONFIG, config_payload(_video_config(description), description))
    if body[1] != _MEDIA or len(body) == _VIDEO_HEADER:
        return None
    composition_ms = int.from_bytes(body[2:5], "big", signed=True)
    return Unit(UnitKind.VIDEO, body[_VIDEO_HEADER:], body[0] >> 4 == _KEY_FRAME, composition_ms)


def _audio(body: bytes) -> Unit | None:
    if body[0] >> 4 != _AAC:
        raise Unsupported("audio that is not AAC")
    if body[1] == _CONFIG:
        description = body[_AUDIO_HEADER:]
        return Unit(UnitKind.AUDIO_CONFIG, config_payload(audio_config(description), description))
    if body[1] != _MEDIA or len(body) == _AUDIO_HEADER:
        return None
    return Unit(UnitKind.AUDIO, body[_AUDIO_HEADER:], key=True)


def _video_config(record: bytes) -> VideoConfig:
    """Of an AVCDecoderConfigurationRecord (ISO/IEC 14496-15, 5.2.4.1)."""
    if len(record) < 7 or record[0] != 1:
        raise ValueError("not an AVC decoder configuration")
    return VideoConfig(codec=f"avc1.{record[1:4].hex()}")


def audio_config(specific: bytes) -> AudioConfig:
    """Parses an AudioSpecificConfig (ISO/IEC 14496-3, 1.6.2.1).

    Raises:
        ValueError: it is cut short, or names no rate or number of channels.
    """
    bits = _Bits(specific)
    object_type = _object_type(bits)
    rate = _rate(bits)
    layout = bits.take(4)
    if object_type in (_SBR, _PS):
        # What is heard has the rate of the extension; parametric stereo makes two channels of one
        rate = _rate(bits)
        if object_type == _PS and layout == 1:
            layout = 2
    if not 0 < layout < len(_CHANNELS):
        raise ValueError("an audio configuration without a number of channels")
    return AudioConfig(codec=f"mp4a.40.{object_type}", sample_rate=rate, channels=_CHANNELS[layout])


def _object_type(bits: _Bits) -> int:
    found = bits.take(5)
    return 32 + bits.take(6) if found == _ESCAPE else found


def _rate(bits: _Bits) -> int:
    index = bits.take(4)
    if index == _EXPLICIT_RATE:
        return bits.take(24)
    if index >= len(_RATES):
        raise ValueError("an audio configuration without a sample rate")
    return _RATES[index]


class _Bits:
    """Reads numbers of some bits each."""

    def __init__(self, data: bytes) -> None:
        self._value, self._left = int.from_bytes(data, "big"), len(data) * 8

    def take(self, count: int) -> int:
        self._left -= count
        if self._left < 0:
            raise ValueError("an audio configuration that is cut short")
        return self._value >> self._left & (1 << count) - 1
