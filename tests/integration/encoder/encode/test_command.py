"""What ffmpeg makes of the options that it is given."""

from __future__ import annotations

import subprocess

import pytest

from onair_encoder.encode.command import DROP_THRESHOLD

SECONDS, FRAMERATE = 4, 30
BURST = "setpts=max(PTS\\,if(gt(N\\,0)\\,{late_s}/TB+N*0.002/TB\\,0))"
"""After the first all frames come late by so much, then fast, until they have caught up."""


@pytest.mark.parametrize("late_s", [0.073, 0.103, 0.133])
def test_frames_that_are_late_at_the_start_leave_the_others_where_they_are(late_s: float) -> None:
    """For each frame too many all that follow are a frame late, which the audio is not."""
    command = [
        *("ffmpeg", "-v", "error", "-frame_drop_threshold", str(DROP_THRESHOLD)),
        *("-t", str(SECONDS), "-f", "lavfi", "-i", f"testsrc=s=64x64:r={FRAMERATE}"),
        *(
            "-vf",
            BURST.format(late_s=late_s),
            "-r",
            str(FRAMERATE),
            "-fps_mode",
            "cfr",
            "-f",
            "framecrc",
            "-",
        ),
    ]
    lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    assert sum(not line.startswith("#") for line in lines) == SECONDS * FRAMERATE
