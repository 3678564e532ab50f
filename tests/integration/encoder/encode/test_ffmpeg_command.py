"""What ffmpeg makes of the options that it is given."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from onair_crds.contract.program import Program, ProgramVideo
from onair_encoder.encode.codec_options import codec_options, encoded_rate
from onair_encoder.encode.ffmpeg_command import DROP_THRESHOLD, IN_STEP, keyframes
from onair_encoder.encode.progress import ProgressParser

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


def test_frames_are_numbered_by_when_they_were_due_although_the_first_came_late() -> None:
    """And ffmpeg says how late it came, which is what the audio has to wait for."""
    late_s = 0.0187
    command = [
        *(
            "ffmpeg",
            "-v",
            "level+info",
            "-nostats",
            "-f",
            "lavfi",
            "-i",
            f"testsrc=s=64x64:r={FRAMERATE}:d=1",
        ),
        *("-vf", f"settb=1/1000000,setpts=PTS-gt(N\\,0)*{late_s}/TB,{IN_STEP}"),
        *("-fps_mode", "passthrough", "-enc_time_base", "1:1000000", "-f", "framecrc", "-"),
    ]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    due_us = [int(line.split(",")[2]) for line in done.stdout.splitlines() if not line.startswith("#")]
    assert due_us == pytest.approx([number * 1e6 / FRAMERATE for number in range(FRAMERATE)], abs=2)
    parser = ProgressParser(lambda _: None)
    for line in (
        "[info]   Duration: N/A, start: 1795263608.107388, bitrate: 55296 kb/s",
        *done.stderr.splitlines(),
    ):
        parser.line(line)
    assert parser.now.first_late_s == pytest.approx(late_s, abs=1e-4)


@pytest.mark.parametrize(("framerate", "declared"), [(29.97, "30000/1001"), (30.0, "30/1"), (25.0, "25/1")])
def test_a_stream_declares_the_rate_that_was_asked_for(
    tmp_path: Path, framerate: float, declared: str
) -> None:
    """Its frames are a hair off, whole microseconds apart."""
    video = ProgramVideo(
        width=64, height=64, framerate=framerate, bitrate_bps=100_000, keyframe_interval_frames=30
    )
    program = Program(
        project="p", broadcast="b", epoch=1, composition_url="http://page.example/", video=video
    )
    stream = tmp_path / "stream.h264"
    command = [
        *("ffmpeg", "-v", "error", "-f", "lavfi", "-i", f"testsrc=s=64x64:r={encoded_rate(framerate)}:d=1"),
        *codec_options(program),
        *("-flags", "-global_header", "-f", "h264", str(stream)),
    ]
    subprocess.run(command, check=True)
    query = ["ffprobe", "-v", "error", "-show_entries", "stream=r_frame_rate", "-of", "csv=p=0", str(stream)]
    found = subprocess.run(query, check=True, capture_output=True, text=True).stdout.strip()
    assert found == declared


@pytest.mark.parametrize(
    ("framerate", "interval", "expected"),
    [
        (30.0, 30, [0, 8, 16, 24, 30, 32, 40, 48, 56, 60, 90, 120]),
        (25.0, 60, [0, 6, 12, 18, 24, 30, 36, 42, 48, 60, 120]),
        (30.0, 140, [0, 8, 16, 24, 32, 40, 48, 56, 140]),
        (10.0, 1, [*range(50)]),
    ],
)
def test_key_frames_are_close_at_the_start_and_beside_them_where_the_programme_wants_them(
    tmp_path: Path, framerate: float, interval: int, expected: list[int]
) -> None:
    """So segments, two seconds long at least, end where they would without."""
    video = ProgramVideo(
        width=64, height=64, framerate=framerate, bitrate_bps=100_000, keyframe_interval_frames=interval
    )
    program = Program(
        project="p", broadcast="b", epoch=1, composition_url="http://page.example/", video=video
    )
    stream = tmp_path / "stream.flv"
    command = [
        *("ffmpeg", "-v", "error", "-f", "lavfi", "-i", f"testsrc=s=64x64:r={encoded_rate(framerate)}:d=5"),
        *("-f", "lavfi", "-i", "anullsrc=r=48000", "-shortest"),
        *codec_options(program),
        *("-force_key_frames:v", keyframes(program), str(stream)),
    ]
    subprocess.run(command, check=True)
    query = [
        "ffprobe",
        "-v",
        "error",
        "-select_streams",
        "v",
        "-show_entries",
        "packet=flags",
        "-of",
        "csv=p=0",
    ]
    flags = subprocess.run([*query, str(stream)], check=True, capture_output=True, text=True).stdout.split()
    assert [number for number, flag in enumerate(flags) if "K" in flag] == expected
