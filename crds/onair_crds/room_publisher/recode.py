"""Encodes video again, small, where viewers of rooms could not decode it as it is.

WebRTC has no B-frames, and no profiles of H.264 beyond High. Whoever joins waits for a key frame as well,
which some encoders send ten seconds apart. Everything else passes through.

What is decoded comes from whoever publishes: its size is bounded here, and in `room_process.py` the memory of
the process that decodes it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction

import av

from onair_crds.media.flv import SCRIPT, VIDEO, Packet
from onair_crds.media.stream_metadata import VideoFormat, metadata_packet, video_format
from onair_crds.session_error import SessionError

MAX_WIDTH, MAX_HEIGHT = 640, 360
BITRATE_BPS = 700_000
MAX_FRAMERATE = 30
MAX_PIXELS = 4096 * 2304
"""Of video that is decoded: an encoder may say that it needs 16 frames of any size."""
MOST_UNDECODED = 100
"""So many packets without a frame between them, which cannot be decoded, are not merely damaged."""
KEY_EVERY_MS, FIRST_KEYS_EVERY_MS, FIRST_MS = 2000, 500, 3000
"""Who joins shortly after the beginning gets a picture at once."""
KEY_TIMEOUT_S = 2.5
"""A viewer who has waited for a key frame for so long is given ones of ours from the next one on."""
LATE_S, VERY_LATE_S = 0.25, 1.0
"""Where decoding is behind for so long, frames that no other needs are dropped, then all but key frames."""
DRIFT = 2e-4
"""Clocks of publishers differ by less."""
_PROFILES = frozenset({66, 77, 88, 100})
_PICTURE = 1
_CODECS = {"preset": "ultrafast", "tune": "zerolatency", "profile": "baseline", "threads": "1"}


@dataclass(frozen=True)
class _Input:
    """Video as it comes."""

    description: bytes
    """AVCDecoderConfigurationRecord."""
    form: VideoFormat


class Recoder:
    """Takes packets of a stream and gives those for the room, in decoding order."""

    def __init__(self, wants_key_frame: Callable[[], bool]) -> None:
        """
        Args:
            wants_key_frame: whether somebody has requested one since it was called last.
        """
        self._wants_key_frame = wants_key_frame
        self._wanted_since_s: float | None = None
        self._form: VideoFormat | None = None
        self._script: Packet | None = None
        """Not handed on yet: what is announced depends on the first frame."""
        self._header: Packet | None = None
        self._encoder: _SmallEncoder | None = None
        self._too_rare = False
        """Key frames are."""
        self._least_offset_s: float | None = None
        self._offset_at_s = 0.0

    @property
    def recodes(self) -> bool:
        return self._encoder is not None

    def packets(self, packet: Packet, now_s: float) -> list[Packet]:
        """The packets that are complete now.

        Args:
            now_s: a monotonic time.

        Raises:
            SessionError: the video is too large to be encoded again, or cannot be decoded.
        """
        return list(self._packets(packet, now_s))

    def _packets(self, packet: Packet, now_s: float) -> Iterator[Packet]:
        if packet.type == SCRIPT:
            self._script, self._form = packet, video_format(packet) or self._form
            if self._form is None:
                yield packet
        elif packet.type != VIDEO:
            if self._script and self._header is None and not packet.header:
                # It has no video, but is heard
                yield self._script
                self._script = None
            yield packet
        elif packet.header:
            self._header = packet
            if self._encoder:
                self._encoder = None
            elif self._script is None:
                yield packet
        elif packet.body[1] == _PICTURE and self._header and self._form:
            yield from self._picture(packet, self._header, self._form, now_s)

    def _picture(self, packet: Packet, header: Packet, form: VideoFormat, now_s: float) -> Iterator[Packet]:
        self._note_requests(packet, now_s)
        if self._encoder is None and (self._too_rare or _cannot_pass(packet, header)):
            if not packet.keyframe:
                return
            self._encoder = _SmallEncoder(_Input(header.body[5:], form))
            self._script = None
            yield metadata_packet(self._encoder.form)
        if self._encoder is None:
            if self._script:
                yield self._script
                yield header
                self._script = None
            yield packet
            return
        key = not self._too_rare and self._wants_key_frame()
        yield from self._encoder.packets(packet, late_s=self._late_s(packet, now_s), key=key)

    def _note_requests(self, packet: Packet, now_s: float) -> None:
        """A request that no key frame meets in time shows that they are too rare."""
        if self._encoder:
            return
        if packet.keyframe:
            self._wanted_since_s = None
        elif self._wanted_since_s is not None:
            self._too_rare = self._too_rare or now_s - self._wanted_since_s > KEY_TIMEOUT_S
        elif self._wants_key_frame():
            self._wanted_since_s = now_s

    def _late_s(self, packet: Packet, now_s: float) -> float:
        """How late a packet is compared to the least late one so far."""
        offset_s = now_s - packet.timestamp_ms / 1000
        least_s = self._least_offset_s
        if least_s is not None:
            least_s += DRIFT * (now_s - self._offset_at_s)
        self._least_offset_s = offset_s if least_s is None else min(offset_s, least_s)
        self._offset_at_s = now_s
        return offset_s - self._least_offset_s


def _cannot_pass(packet: Packet, header: Packet) -> bool:
    return int.from_bytes(packet.body[2:5], "big", signed=True) > 0 or header.body[6] not in _PROFILES


class _SmallEncoder:
    def __init__(self, source: _Input) -> None:
        """
        Raises:
            SessionError: it is too large.
        """
        if source.form.width * source.form.height > MAX_PIXELS:
            size = f"{source.form.width}x{source.form.height}"
            raise SessionError(f"video of {size} is too large to be encoded again for a room")
        self._decoder = av.VideoCodecContext.create("h264", "r")
        # What it says itself counts: its size was only announced
        self._decoder.options = {"max_pixels": str(MAX_PIXELS)}
        self._decoder.extradata = source.description
        self._decoder.thread_count = 1
        self.form = _fitted(source.form)
        self._encoder: av.VideoCodecContext | None = None
        self._header_sent = False
        self._first_ms: int | None = None
        self._key_ms = 0
        self._shown_ms = -1
        self._step_ms = 1000 / MAX_FRAMERATE
        self._undecoded = 0

    def packets(self, packet: Packet, *, late_s: float, key: bool) -> Iterator[Packet]:
        """Yields the packets of the small picture that a packet gives.

        Args:
            key: a key frame is wanted now.

        Raises:
            SessionError: many packets in a row could not be decoded.
        """
        self._decoder.skip_frame = (
            "NONKEY" if late_s > VERY_LATE_S else "NONREF" if late_s > LATE_S else "DEFAULT"
        )
        given = av.Packet(packet.body[5:])
        given.time_base = Fraction(1, 1000)
        given.dts = packet.timestamp_ms
        given.pts = packet.timestamp_ms + int.from_bytes(packet.body[2:5], "big", signed=True)
        try:
            frames = self._decoder.decode(given)
        except (av.FFmpegError, MemoryError):
            self._undecoded += 1
            if self._undecoded > MOST_UNDECODED:
                raise SessionError(
                    "the video cannot be decoded: it is damaged, or too large to be encoded again for a room"
                ) from None
            return
        if frames:
            self._undecoded = 0
        for frame in frames:
            if frame.pts is not None and frame.pts >= self._shown_ms + self._step_ms * 0.75:
                yield from self._encode(frame, key=key)
                key = False

    def _encode(self, frame: av.VideoFrame, *, key: bool) -> Iterator[Packet]:
        time_ms = int(frame.pts or 0)
        if self._encoder is None:
            self._encoder = self._opened()
            self._first_ms = time_ms
        first_ms = self._first_ms or 0
        every_ms = FIRST_KEYS_EVERY_MS if time_ms - first_ms < FIRST_MS else KEY_EVERY_MS
        small = frame.reformat(self.form.width, self.form.height, "yuv420p")
        small.pts, small.time_base = time_ms, Fraction(1, 1000)
        small.pict_type = av.video.frame.PictureType.NONE
        if self._shown_ms < 0 or key or time_ms - self._key_ms >= every_ms:
            small.pict_type, self._key_ms = av.video.frame.PictureType.I, time_ms
        self._shown_ms = time_ms
        for encoded in self._encoder.encode(small):
            units = list(_units(bytes(encoded)))
            if not self._header_sent:
                self._header_sent = True
                yield _header(units, time_ms)
            yield _frame(units, time_ms, key=encoded.is_keyframe)

    def _opened(self) -> av.VideoCodecContext:
        encoder = av.VideoCodecContext.create("libx264", "w")
        encoder.width, encoder.height, encoder.pix_fmt = self.form.width, self.form.height, "yuv420p"
        encoder.time_base, encoder.framerate = Fraction(1, 1000), Fraction(MAX_FRAMERATE)
        encoder.bit_rate = BITRATE_BPS
        encoder.options = {
            **_CODECS,
            "x264-params": f"vbv-maxrate={BITRATE_BPS // 1000}:vbv-bufsize={BITRATE_BPS // 2000}"
            ":keyint=infinite:scenecut=0:forced-idr=1",
            "forced-idr": "1",
        }
        return encoder


def _fitted(form: VideoFormat) -> VideoFormat:
    """The same shape within the largest size, in even numbers."""
    scale = min(1.0, MAX_WIDTH / form.width, MAX_HEIGHT / form.height)
    width, height = (max(2, round(each * scale / 2) * 2) for each in (form.width, form.height))
    return VideoFormat(width, height, min(form.framerate, MAX_FRAMERATE), BITRATE_BPS)


def _units(stream: bytes) -> Iterator[bytes]:
    """NAL units of a byte stream (ISO/IEC 14496-10, annex B)."""
    for part in stream.split(b"\0\0\1")[1:]:
        if unit := part.rstrip(b"\0"):
            yield unit


def _header(units: list[bytes], time_ms: int) -> Packet:
    """An AVC sequence header of the parameter sets in a key frame."""
    (sps, *_), (pps, *_) = ([each for each in units if each[0] & 0x1F == kind] for kind in (7, 8))
    record = b"\x01" + sps[1:4] + b"\xff\xe1" + _sized(sps, 2) + b"\x01" + _sized(pps, 2)
    return Packet(VIDEO, time_ms, b"\x17\0\0\0\0" + record)


def _frame(units: list[bytes], time_ms: int, *, key: bool) -> Packet:
    head = b"\x17\x01\0\0\0" if key else b"\x27\x01\0\0\0"
    return Packet(
        VIDEO, time_ms, head + b"".join(_sized(each, 4) for each in units if each[0] & 0x1F not in (7, 8))
    )


def _sized(unit: bytes, size_bytes: int) -> bytes:
    return len(unit).to_bytes(size_bytes, "big") + unit
