"""Packs the programme into MPEG-TS (ISO 13818-1): H.264 and AAC, one program, a clock of 27 MHz."""

from __future__ import annotations

from collections.abc import Collection
from itertools import chain, cycle, islice

from onair_crds.media.flv import AUDIO, SCRIPT, VIDEO, Packet
from onair_crds.media.frame_clock import SAMPLE_RATES_HZ, TICKS_PER_MS, FrameClock, audio_step, video_step
from onair_crds.media.h264 import DELIMITER, FILLER, START_CODE, length_size, parameter_sets
from onair_crds.media.stream_metadata import video_format

CELL = 188
"""Bytes of one transport packet."""
_PAT, _PMT, _VIDEO, _AUDIO = 0x0000, 0x1000, 0x0100, 0x0101
_H264, _ADTS = 0x1B, 0x0F
_BODY = CELL - 4
_CLOCK = 90
"""Ticks of timestamps in a millisecond."""
_FINE = 300
"""Ticks of 27 MHz in one of those."""
_WRAP = 1 << 33
_LEAD_MS = 200
"""How far the clock reference is behind the media: a receiver's time to buffer."""
_FIRST_MS = 1000
_CLOCK_EVERY_MS = 80
"""A receiver wants the clock at least every 100 ms, also where frames are rarer."""
_TABLES_EVERY_MS = 350
"""A receiver wants PAT and PMT at least every 400 ms; audio frames are 21 ms apart."""
_PICTURE = 1
"""AVCPacketType: a coded frame, not a configuration or an end of sequence."""
_LC, _MAX_PROFILE, _MAX_CHANNELS = 1, 3, 7
"""Of ADTS (ISO/IEC 13818-7, 6.2)."""
_EXTENDED = (5, 29)
"""Object types of SBR, and of it with parametric stereo (ISO/IEC 14496-3, table 1.17)."""
_DELIMITER_UNIT = START_CODE + b"\x09\xf0"


def _crc32_table() -> list[int]:
    table = []
    for value in range(256):
        crc = value << 24
        for _ in range(8):
            crc = (crc << 1) ^ (0x04C11DB7 if crc & 0x80000000 else 0)
        table.append(crc & 0xFFFFFFFF)
    return table


_CRC = _crc32_table()


def _section(body: bytes) -> bytes:
    """A table with its checksum, padded to a payload."""
    crc = 0xFFFFFFFF
    for byte in body:
        crc = (crc << 8 & 0xFFFFFFFF) ^ _CRC[crc >> 24 ^ byte]
    return (b"\0" + body + crc.to_bytes(4, "big")).ljust(_BODY, b"\xff")


def _stream(type_: int, pid: int) -> bytes:
    return bytes((type_, 0xE0 | pid >> 8, pid & 0xFF, 0xF0, 0))


_PAT_BODY = _section(b"\x00\xb0\x0d\x00\x01\xc1\x00\x00\x00\x01" + bytes((0xE0 | _PMT >> 8, _PMT & 0xFF)))


def _pmt_body(types: Collection[int]) -> bytes:
    """What is in the programme; the clock goes with the video, or with what there is."""
    known = {VIDEO: _stream(_H264, _VIDEO), AUDIO: _stream(_ADTS, _AUDIO)}
    streams = b"".join(stream for type_, stream in known.items() if type_ in types)
    clock = _VIDEO if VIDEO in types else _AUDIO
    head = bytes((2, 0xB0, 13 + len(streams), 0, 1, 0xC1, 0, 0, 0xE0 | clock >> 8, clock & 0xFF, 0xF0, 0))
    return _section(head + streams)


class _Pid:
    """One elementary stream or table: its headers by continuity counter, precomputed."""

    def __init__(self, pid: int) -> None:
        def head(flags: int, control: int) -> list[bytes]:
            return [bytes((0x47, flags | pid >> 8, pid & 0xFF, control | n)) for n in range(16)]

        self.plain, self.adapted = head(0, 0x10), head(0, 0x30)
        self.first, self.first_adapted = head(0x40, 0x10), head(0x40, 0x30)
        self.clock_alone = head(0, 0x20)
        self.next = 0
        self.last_dts = -1
        self.clock = FrameClock()


class TransportStream:
    """Takes packets of the programme, gives whole transport packets; its times never go back."""

    def __init__(self, *, filler: bool = True, types: Collection[int] = (VIDEO, AUDIO)) -> None:
        """
        Args:
            filler: whether to keep what makes the bitrate constant and shows nothing.
            types: of packets that come; without VIDEO, audio begins at once.
        """
        self._dropped_units = (DELIMITER,) if filler else (DELIMITER, FILLER)
        self._pat, self._pmt = _Pid(_PAT), _Pid(_PMT)
        self._video, self._audio = _Pid(_VIDEO), _Pid(_AUDIO)
        self._parameters = b""
        self._adts: tuple[int, int, int] | None = None
        self._length_size = 4
        self._pmt_body = _pmt_body(types)
        self._audio_alone = self._began = VIDEO not in types
        self._begins = False
        self._clock_ms = self._tables_ms = 0
        self._reference = -1

    def begin(self) -> None:
        """Starts over: what comes next is decoded without what was before, after tables and the clock."""
        self._begins = True

    def pack(self, packet: Packet) -> bytes:
        """The bytes of one packet; none for what only configures, or comes before the first key frame."""
        if packet.header or packet.type == SCRIPT:
            self._configure(packet)
            return b""
        if packet.type == VIDEO and packet.body[1] == _PICTURE:
            return self._pack_video(packet)
        if packet.type == AUDIO:
            return self._pack_audio(packet)
        return b""

    # -- H.264 and AAC ----------------------------------------------------------------------------

    def _configure(self, packet: Packet) -> None:
        if packet.type == SCRIPT:
            if form := video_format(packet):
                self._video.clock.step = video_step(form.framerate)
            return
        if packet.type == AUDIO:
            self._adts = _adts(packet.body[2:])
            if self._adts:
                self._audio.clock.step = audio_step(self._adts[1])
            return
        self._length_size = length_size(packet)
        self._parameters = parameter_sets(packet)

    def _pack_video(self, packet: Packet) -> bytes:
        if not self._parameters or not (self._began or packet.keyframe):
            return b""
        body = packet.body
        offset_ms = int.from_bytes(body[2:5], "big", signed=True)
        fine = self._fine_ticks(self._video, packet.timestamp_ms)
        dts = self._ticks(self._video, fine)
        pts = max(dts, fine // _FINE + offset_ms * _CLOCK)
        unit = self._access_unit(body, keyframe=packet.keyframe)
        stamps = _stamps(pts, dts) if pts != dts else _stamps(pts)
        out: list[bytes] = []
        if packet.keyframe:
            self._began = True
        self._tables(out, packet, due=packet.keyframe)
        self._clock_ms = packet.timestamp_ms
        # Length 0: frames may be longer than the field can say.
        pes = b"\0\0\1\xe0\0\0" + stamps + unit
        self._cells(out, self._video, pes, self._clock(fine, random_access=packet.keyframe))
        return b"".join(out)

    def _access_unit(self, body: bytes, *, keyframe: bool) -> bytes:
        """The frame with start codes instead of lengths; parameter sets before each key frame."""
        parts = [_DELIMITER_UNIT]
        if keyframe:
            parts.append(self._parameters)
        at, size, end = 5, self._length_size, len(body)
        while at + size < end:
            length = int.from_bytes(body[at : at + size], "big")
            at += size
            if body[at] & 0x1F not in self._dropped_units:
                parts += START_CODE, body[at : at + length]
            at += length
        return b"".join(parts)

    def _pack_audio(self, packet: Packet) -> bytes:
        if self._adts is None or not self._began:
            return b""
        profile, rate, channels = self._adts
        size = len(packet.body) - 2 + 7
        header = bytes(
            (
                0xFF,
                0xF1,
                profile << 6 | rate << 2 | channels >> 2,
                (channels & 3) << 6 | size >> 11,
                size >> 3 & 0xFF,
                (size & 7) << 5 | 0x1F,
                0xFC,
            )
        )
        fine = self._fine_ticks(self._audio, packet.timestamp_ms)
        stamps = _stamps(self._ticks(self._audio, fine))
        pes = b"\0\0\1\xc0" + (len(stamps) + size).to_bytes(2, "big") + stamps + header + packet.body[2:]
        out: list[bytes] = []
        begins, self._begins = self._begins and self._audio_alone, False
        self._tables(out, packet, due=begins)
        clock = b""
        if begins or packet.timestamp_ms - self._clock_ms >= _CLOCK_EVERY_MS:
            self._clock_ms = packet.timestamp_ms
            clock = self._clock(fine, random_access=begins)
        if clock and not self._audio_alone:
            # A packet without a payload does not advance the counter.
            head = self._video.clock_alone[self._video.next - 1 & 0xF]
            out.append(head + _adaptation(_BODY, clock))
            clock = b""
        self._cells(out, self._audio, pes, clock)
        return b"".join(out)

    # -- transport --------------------------------------------------------------------------------

    def _fine_ticks(self, pid: _Pid, time_ms: int) -> int:
        """A frame's time on the stream's clock of 27 MHz."""
        return pid.clock.ticks(time_ms) + _FIRST_MS * TICKS_PER_MS

    def _ticks(self, pid: _Pid, fine: int) -> int:
        pid.last_dts = max(fine // _FINE, pid.last_dts + 1)
        return pid.last_dts

    def _clock(self, fine: int, *, random_access: bool = False) -> bytes:
        """Flags and the programme's clock reference, of 33 bits of 90 kHz and 9 of 27 MHz."""
        self._reference = max(fine - _LEAD_MS * TICKS_PER_MS, self._reference + 1)
        base, extension = divmod(self._reference, _FINE)
        field = (base % _WRAP << 15 | 0x7E00 | extension).to_bytes(6, "big")
        return bytes((0x50 if random_access else 0x10,)) + field

    def _tables(self, out: list[bytes], packet: Packet, *, due: bool) -> None:
        if due or packet.timestamp_ms - self._tables_ms >= _TABLES_EVERY_MS:
            self._tables_ms = packet.timestamp_ms
            out += self._table(self._pat, _PAT_BODY), self._table(self._pmt, self._pmt_body)

    def _table(self, pid: _Pid, body: bytes) -> bytes:
        head = pid.first[pid.next]
        pid.next = pid.next + 1 & 0xF
        return head + body

    def _cells(self, out: list[bytes], pid: _Pid, pes: bytes, field: bytes) -> None:
        """Cuts a PES packet; `field` goes ahead of it, what is short of a packet is stuffed."""
        counter, at, end = pid.next, 0, len(pes)
        if field or end < _BODY:
            at = min(end, _BODY - 1 - len(field or b"\0") if field else end)
            out += pid.first_adapted[counter], _adaptation(_BODY - at, field), pes[:at]
        else:
            at = _BODY
            out += pid.first[counter], pes[:at]
        counter = counter + 1 & 0xF
        if whole := (end - at) // _BODY:
            last = at + whole * _BODY
            bodies = [pes[i : i + _BODY] for i in range(at, last, _BODY)]
            heads = islice(cycle(pid.plain), counter, None)
            out += chain.from_iterable(zip(heads, bodies, strict=False))
            at = last
            counter = counter + whole & 0xF
        if at < end:
            out += pid.adapted[counter], _adaptation(_BODY - (end - at), b""), pes[at:]
            counter = counter + 1 & 0xF
        pid.next = counter


def _adts(specific: bytes) -> tuple[int, int, int] | None:
    """Profile, index of the rate and channels of an AudioSpecificConfig; None if ADTS cannot say them."""
    # Object type 5 bits, index of the rate 4, channels 4
    bits = int.from_bytes(specific[:2], "big")
    object_type, rate, channels = bits >> 11, bits >> 7 & 0xF, bits >> 3 & 0xF
    # What has more than LC is found by those that decode it: the rate is that of the core
    profile = _LC if object_type in _EXTENDED else object_type - 1
    known = 0 <= profile <= _MAX_PROFILE and rate < len(SAMPLE_RATES_HZ) and 0 < channels <= _MAX_CHANNELS
    return (profile, rate, channels) if known else None


def _adaptation(size: int, field: bytes) -> bytes:
    """An adaptation field of so many bytes in all, its length byte included."""
    if size == 1:
        return b"\0"
    return bytes((size - 1,)) + (field or b"\0").ljust(size - 1, b"\xff")


def _stamps(pts: int, dts: int | None = None) -> bytes:
    """The PES header from its flags on."""
    if dts is None:
        return b"\x80\x80\x05" + _stamp(2, pts)
    return b"\x80\xc0\x0a" + _stamp(3, pts) + _stamp(1, dts)


def _stamp(mark: int, ticks: int) -> bytes:
    ticks %= _WRAP
    high, middle, low = ticks >> 30, ticks >> 15 & 0x7FFF, ticks & 0x7FFF
    return (mark << 36 | high << 33 | 1 << 32 | middle << 17 | 1 << 16 | low << 1 | 1).to_bytes(5, "big")
