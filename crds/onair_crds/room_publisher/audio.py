"""Audio in the form that rooms take: AAC in, PCM of 16 bits in chunks of 10 ms out."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import av

from onair_crds.media.flv import Packet

SAMPLE_RATE_HZ = 48_000
CHANNELS = 2
CHUNK_SAMPLES = 480
"""10 ms: what libwebrtc takes at once."""


class AudioDecoder:
    def __init__(self) -> None:
        self._configuration = b""
        self._decoder: av.AudioCodecContext | None = None
        self._resampler = self._new_resampler()

    @staticmethod
    def _new_resampler() -> av.AudioResampler:
        return av.AudioResampler("s16", "stereo", SAMPLE_RATE_HZ, frame_size=CHUNK_SAMPLES)

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
