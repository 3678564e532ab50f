"""Audio whose timestamps move is heard where they say."""

from __future__ import annotations

from pathlib import Path

import av
import numpy as np
import pytest
from tests.support.media import painted
from tests.support.media.heard import RATE_HZ, heard

FRAMES, SAMPLES = 100, 1024


@pytest.mark.parametrize("moved_ms", [0, 20, -20, 300])
def test_clicks_are_heard_when_the_timestamps_of_their_packets_say(tmp_path: Path, moved_ms: int) -> None:
    """Half of them by timestamps that are `moved_ms` later, as those of a stream whose audio is held back."""
    clicks = (20, 40, 60, 80)
    path = tmp_path / "moved.mkv"
    with av.open(str(path), "w") as container:
        stream = container.add_stream("aac", rate=RATE_HZ, layout="stereo")
        for number in range(FRAMES + 1):
            tone = np.sin(2 * np.pi * 3000 * np.arange(SAMPLES) / RATE_HZ) * 0.5 if number in clicks else 0
            samples = np.zeros((2, SAMPLES), np.float32) + np.asarray(tone, np.float32)
            frame = av.AudioFrame.from_ndarray(samples, "fltp", "stereo")
            frame.sample_rate, frame.pts = RATE_HZ, number * SAMPLES
            for packet in stream.encode(frame if number < FRAMES else None):
                assert packet.pts is not None
                packet.pts += moved_ms * 48 * (packet.pts >= FRAMES // 2 * SAMPLES)
                packet.dts = packet.pts
                container.mux(packet)
    first_s, samples = heard(path)
    found = [first_s + at for at in painted.click_times(samples, RATE_HZ)]
    wanted = [
        (number * SAMPLES) / RATE_HZ + (moved_ms / 1000 if number >= FRAMES // 2 else 0) for number in clicks
    ]
    assert np.diff(found) == pytest.approx(np.diff(wanted), abs=0.004)


def test_rounded_timestamps_leave_a_tone_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "tone.mkv"  # whose timestamps are of whole milliseconds
    with av.open(str(path), "w") as container:
        stream = container.add_stream("aac", rate=RATE_HZ, layout="mono")
        tone = np.sin(2 * np.pi * 1000 * np.arange(FRAMES * SAMPLES) / RATE_HZ).astype(np.float32) * 0.5
        for number in range(FRAMES):
            part = tone[number * SAMPLES : (number + 1) * SAMPLES]
            frame = av.AudioFrame.from_ndarray(part[None], "fltp", "mono")
            frame.sample_rate, frame.pts = RATE_HZ, number * SAMPLES
            container.mux(stream.encode(frame))
        container.mux(stream.encode(None))
    assert painted.tone_hz(heard(path).samples, RATE_HZ) == pytest.approx(1000, abs=0.5)
