"""The records by which a gateway hands a stream to its readers, and an encoder agent to a page. Pure.

A WebSocket carries one record in each binary message, in decoding order; text messages are not used. All
numbers are big-endian:

    0   1  kind         1 video configuration, 2 audio configuration, 3 video, 4 audio
    1   1  flags        1: a key frame; 2: records before this one were dropped, or the stream started over
    2   2  reserved     0
    4   8  pts          presentation time in microseconds, on a clock that never goes back
    12  8  dts          decoding time, likewise
    20     payload

The payload of a configuration is two bytes with the length of a JSON object, the object (`VideoConfig`,
`AudioConfig`), and the codec's own configuration: an AVCDecoderConfigurationRecord, an AudioSpecificConfig.
That of video is an access unit whose NAL units follow their lengths, as the configuration says; that of
audio is one frame without ADTS header. So both are what WebCodecs takes, with the last configuration of
their kind. A reader gets configurations first, then the group of pictures that is on the air from its key
frame on, then what arrives.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from enum import IntEnum

from onair_crds.contract.wire_model import WireModel

ACCESS_UNITS_SUFFIX = "/access-units"
"""After `STREAMS_PATH/<stream>`: a WebSocket; the token of `reader_token` as bearer. 404: there is no such
stream here; 429: it has as many readers as there may be. Closed with 4404 when the stream ends, 4415 when it
has nothing that a page can decode, 4401 when the token counts no more."""
STILL_SUFFIX = "/still"
"""GET, likewise: a JPEG of the last key frame; 503 while there is none."""
CLOSE_ENDED, CLOSE_UNSUPPORTED, CLOSE_REFUSED = 4404, 4415, 4401
CLOSE_TOO_MANY = 4429
"""To a page, by the encoder agent: others take this source in this pod already."""
VIDEO_CODEC, AUDIO_CODEC = "H264", "AAC"
"""What is handed out, as `StreamState` names codecs; readers get nothing of others."""

_HEADER = struct.Struct(">BBHqq")
KEY, GAP = 1, 2


class UnitKind(IntEnum):
    """What a record holds."""

    VIDEO_CONFIG = 1
    AUDIO_CONFIG = 2
    VIDEO = 3
    AUDIO = 4


class VideoConfig(WireModel):
    """How to decode the video units that follow."""

    codec: str
    """As WebCodecs names it, such as `avc1.64001f`."""


class AudioConfig(WireModel):
    """How to decode the audio units that follow."""

    codec: str
    """Such as `mp4a.40.2`."""
    sample_rate: int
    channels: int


class RecordError(ValueError):
    """The bytes are not a record."""


@dataclass(frozen=True, slots=True)
class Record:
    """A configuration or an access unit, with its times."""

    kind: UnitKind
    pts_us: int
    dts_us: int
    payload: bytes
    key: bool = False
    gap: bool = False

    def encode(self) -> bytes:
        flags = (KEY if self.key else 0) | (GAP if self.gap else 0)
        return _HEADER.pack(self.kind, flags, 0, self.pts_us, self.dts_us) + self.payload


def decode(data: bytes) -> Record:
    """Decodes a record.

    Raises:
        RecordError: it is cut short, or of an unknown kind.
    """
    try:
        kind, flags, _, pts_us, dts_us = _HEADER.unpack_from(data)
        return Record(
            UnitKind(kind), pts_us, dts_us, data[_HEADER.size :], bool(flags & KEY), bool(flags & GAP)
        )
    except (struct.error, ValueError) as error:
        raise RecordError("not a record of a stream") from error


def config_payload(config: VideoConfig | AudioConfig, description: bytes) -> bytes:
    """The payload of a configuration's record: its JSON, its length before it, then the description."""
    text = config.wire().encode()
    return len(text).to_bytes(2, "big") + text + description


def split_config(payload: bytes) -> tuple[bytes, bytes]:
    """The JSON text and the codec's own configuration."""
    size = int.from_bytes(payload[:2], "big")
    return payload[2 : 2 + size], payload[2 + size :]
