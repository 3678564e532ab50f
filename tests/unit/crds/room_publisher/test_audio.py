"""What rooms hear of each channel of a stream: as much as pages do."""

from __future__ import annotations

import av
import numpy as np
import pytest

from onair_crds.media.flv import AUDIO, Packet
from onair_crds.room_publisher.audio import CHUNK_SAMPLES, AudioDecoder

RATE_HZ = 48_000
FRAME_SAMPLES = 1024
LEVEL = 0.5
HALF_POWER = 0.707


def encoded(layout: str, channel: int) -> list[Packet]:
    """0.3 s of a tone in one channel of AAC."""
    encoder = av.AudioCodecContext.create("aac", "w")
    encoder.sample_rate, encoder.layout, encoder.format = RATE_HZ, layout, "fltp"
    encoder.bit_rate = 384_000
    encoder.open()
    assert encoder.extradata
    packets = [Packet(AUDIO, 0, b"\xaf\x00" + encoder.extradata)]
    samples = np.zeros((encoder.channels, 14 * FRAME_SAMPLES), np.float32)
    samples[channel] = LEVEL * np.sin(2 * np.pi * 100 / RATE_HZ * np.arange(samples.shape[1]))
    for begin in range(0, samples.shape[1], FRAME_SAMPLES):
        part = np.ascontiguousarray(samples[:, begin : begin + FRAME_SAMPLES])
        frame = av.AudioFrame.from_ndarray(part, "fltp", layout)
        frame.sample_rate, frame.pts = RATE_HZ, begin
        packets += [Packet(AUDIO, 0, b"\xaf\x01" + bytes(each)) for each in encoder.encode(frame)]
    return packets


def heard(decoder: AudioDecoder, packets: list[Packet]) -> tuple[float, float]:
    """The loudest samples, left and right."""
    chunks = [chunk for packet in packets for chunk in decoder.pcm(packet)]
    assert len(chunks) >= 20
    assert {len(chunk) for chunk in chunks} == {CHUNK_SAMPLES * 2 * 2}
    left, right = abs(np.frombuffer(b"".join(chunks), np.int16).reshape(-1, 2) / 32768).max(axis=0)
    return float(left), float(right)


@pytest.mark.parametrize(
    ("layout", "channel", "expected"),
    [
        ("mono", 0, (1, 1)),
        ("stereo", 0, (1, 0)),
        ("stereo", 1, (0, 1)),
        ("4.0", 3, (0.5, 0.5)),
        ("5.1", 0, (1, 0)),
        ("5.1", 2, (HALF_POWER, HALF_POWER)),
        ("5.1", 3, (0, 0)),
        ("5.1", 5, (0, HALF_POWER)),
        ("5.0", 3, (HALF_POWER, 0)),
    ],
)
def test_each_channel_is_heard_as_on_a_page(layout: str, channel: int, expected: tuple[float, float]) -> None:
    wanted = [LEVEL * share for share in expected]
    assert heard(AudioDecoder(), encoded(layout, channel)) == pytest.approx(wanted, abs=0.03)


def test_a_stream_may_become_mono() -> None:
    decoder = AudioDecoder()
    assert heard(decoder, encoded("stereo", 1)) == pytest.approx((0, LEVEL), abs=0.03)
    assert heard(decoder, encoded("mono", 0)) == pytest.approx((LEVEL, LEVEL), abs=0.03)
