"""What is heard of a recording, at the time that its timestamps say, as players go by them."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import av
import numpy as np
from tests.support.media.painted import Samples

RATE_HZ = 48_000


class Heard(NamedTuple):
    first_s: float
    samples: Samples
    """From then on, mono."""


def heard(recording: Path) -> Heard:
    """Decodes the audio, and puts each frame where its own timestamp says.

    Counted from the first sample on, whatever moves timestamps meanwhile would go unseen.
    """
    with av.open(str(recording)) as container:
        frames = [(float(frame.time or 0), _mono(frame)) for frame in container.decode(audio=0)]
    first_s = min(at_s for at_s, _ in frames)
    placed = [(round((at_s - first_s) * RATE_HZ), samples) for at_s, samples in frames]
    whole = np.zeros(max(at + len(samples) for at, samples in placed), np.float32)
    for at, samples in placed:
        whole[at : at + len(samples)] = samples
    return Heard(first_s, whole)


def _mono(frame: av.AudioFrame) -> Samples:
    assert (frame.format.name, frame.sample_rate) == ("fltp", RATE_HZ), frame
    return np.asarray(frame.to_ndarray().mean(axis=0), np.float32)
