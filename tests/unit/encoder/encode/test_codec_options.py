"""A programme is encoded in the same way on every node."""

from __future__ import annotations

from fractions import Fraction

import pytest

from onair_crds.contract.program import ProgramVideo
from onair_encoder.encode.codec_options import encoder_threads, exact_framerate


@pytest.mark.parametrize(
    ("framerate", "exact"),
    [
        (30, Fraction(30)),
        (29.97, Fraction(30000, 1001)),
        (23.976, Fraction(24000, 1001)),
        (59.94, Fraction(60000, 1001)),
        (12.5, Fraction(25, 2)),
        (29.9, Fraction(299, 10)),
        (1.0, Fraction(1)),
    ],
)
def test_framerates_are_exact(framerate: float, exact: Fraction) -> None:
    assert exact_framerate(framerate) == exact


@pytest.mark.parametrize(
    ("width", "height", "framerate", "quality", "threads"),
    [
        (640, 360, 30, "standard", 1),
        (1280, 720, 30, "standard", 1),
        (1280, 720, 30, "high", 2),
        (1920, 1080, 30, "standard", 3),
        (3840, 2160, 60, "high", 8),
    ],
)
def test_threads_depend_on_the_programme_alone(
    width: int, height: int, framerate: float, quality: str, threads: int
) -> None:
    video = ProgramVideo.model_validate(
        {
            "width": width,
            "height": height,
            "framerate": framerate,
            "quality": quality,
            "bitrate_bps": 1_000_000,
            "keyframe_interval_frames": 30,
        }
    )
    assert encoder_threads(video) == threads
