"""What is heard of a recording, at the time that its timestamps say, as players go by them."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import av
import numpy as np
from tests.support.media.painted import Samples

RATE_HZ = 48_000
ROUNDED_S = 0.0015
"""Timestamps are of whole milliseconds, in streams and in files of them."""


class Heard(NamedTuple):
    first_s: float
    samples: Samples
    """From then on, mono."""


def heard(recording: Path) -> Heard:
    """Decodes the audio, and puts each frame where its own timestamp says.

    Counted from the first sample on, whatever moves timestamps meanwhile would go unseen. Frames whose
    timestamps are off by no more than their rounding follow each other without a gap.
    """
    with av.open(str(recording)) as container:
        frames = [(float(frame.time or 0), _mono(frame)) for frame in container.decode(audio=0)]
    first_s = min(at_s for at_s, _ in frames)
    whole = np.zeros(round((max(at_s for at_s, _ in frames) - first_s + 1) * RATE_HZ), np.float32)
    end = longest = 0
    for at_s, samples in frames:
        at = round((at_s - first_s) * RATE_HZ)
        begin = end if abs(at - end) <= ROUNDED_S * RATE_HZ else at
        end = begin + len(samples)
        whole[begin:end] = samples
        longest = max(longest, end)
    return Heard(first_s, whole[:longest])


def _mono(frame: av.AudioFrame) -> Samples:
    assert (frame.format.name, frame.sample_rate) == ("fltp", RATE_HZ), frame
    return np.asarray(frame.to_ndarray().mean(axis=0), np.float32)
