"""Audio in the form that rooms take: AAC in, PCM of 16 bits in chunks of 10 ms out."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from fractions import Fraction

import av

from onair_crds.media.flv import Packet

SAMPLE_RATE_HZ = 48_000
CHANNELS = 2
SAMPLE_BYTES = 2
CHUNK_SAMPLES = 480
"""10 ms: what libwebrtc takes at once."""


class AudioDecoder:
    """Decodes the audio of a stream, whose configuration may change."""

    def __init__(self) -> None:
        self._configuration = b""
        self._decoder: av.AudioCodecContext | None = None
        self._converter: _Converter | None = None

    def pcm(self, packet: Packet) -> Iterator[bytes]:
        """The chunks that are complete now. What cannot be decoded is dropped."""
        if packet.header:
            self._configure(packet.body[2:])
            return
        if not self._decoder:
            return
        try:
            for frame in self._decoder.decode(av.Packet(packet.body[2:])):
                frame.pts, frame.time_base = None, Fraction(1, SAMPLE_RATE_HZ)
                if not self._converter or self._converter.layout != frame.layout.name:
                    self._converter = _Converter(frame.layout)
                yield from self._converter.chunks(frame)
        except av.FFmpegError:
            self._converter = None

    def _configure(self, configuration: bytes) -> None:
        if configuration == self._configuration:
            return
        decoder = av.AudioCodecContext.create("aac", "r")
        decoder.extradata = configuration
        self._configuration, self._decoder = configuration, decoder
        self._converter = None


class _Converter:
    """Converts frames of one layout to chunks, as loud as pages play them (`sources/downmix.js`)."""

    def __init__(self, layout: av.AudioLayout) -> None:
        self.layout = layout.name
        self._is_mono = layout.nb_channels == 1
        wanted = "mono" if self._is_mono else "stereo"
        # To floats: mixed to integers, surround would be as much quieter as never clips, 7.7 dB for 5.1
        self._mixer = av.AudioResampler("fltp", wanted)
        self._resampler = av.AudioResampler("s16", wanted, SAMPLE_RATE_HZ, frame_size=CHUNK_SAMPLES)

    def chunks(self, frame: av.AudioFrame) -> Iterator[bytes]:
        for mixed in self._mixer.resample(frame):
            for chunk in self._resampler.resample(mixed):
                yield self._chunk(chunk)

    def _chunk(self, frame: av.AudioFrame) -> bytes:
        samples = bytes(frame.planes[0])
        if not self._is_mono:
            return samples[: CHUNK_SAMPLES * CHANNELS * SAMPLE_BYTES]
        # swresample would have each side 3 dB quieter
        one = array("h", samples[: CHUNK_SAMPLES * SAMPLE_BYTES])
        both = array("h", bytes(CHANNELS * SAMPLE_BYTES * len(one)))
        both[0::2] = both[1::2] = one
        return both.tobytes()
