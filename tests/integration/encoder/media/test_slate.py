"""A slate that ffmpeg has encoded."""

from __future__ import annotations

import asyncio
import subprocess
from itertools import islice, pairwise
from pathlib import Path

import pytest
from tests.support.media.colours import BT709, last_frame, tags_of

from onair_crds.contract.program import Program, ProgramVideo
from onair_crds.media.flv import AUDIO, SCRIPT, VIDEO
from onair_encoder.media.slate import BACKGROUND, MARK, Slate, slate_command

SIZE = ProgramVideo(width=640, height=360, framerate=30, bitrate_bps=600_000, keyframe_interval_frames=90)
pytestmark = pytest.mark.media
PROGRAM = Program(project="p", broadcast="b", epoch=1, composition_url="http://a.example/", video=SIZE)


def test_a_slate_has_key_frames_audio_and_the_programmes_headers() -> None:
    slate = asyncio.run(Slate.encode(PROGRAM))
    assert slate
    assert {p.type for p in slate.headers} == {SCRIPT, VIDEO, AUDIO}
    packets = list(islice(slate.packets(), 400))
    assert packets[0].keyframe
    assert sum(p.keyframe for p in packets) >= 2
    for type_ in (VIDEO, AUDIO):
        times = [p.timestamp_ms for p in packets if p.type == type_]
        assert all(a < b for a, b in pairwise(times))
    assert {round(b - a) for a, b in pairwise(p.timestamp_ms for p in packets if p.type == VIDEO)} == {33, 34}


def test_a_slate_has_the_colours_of_the_programme(tmp_path: Path) -> None:
    recording = tmp_path / "slate.flv"
    recording.write_bytes(subprocess.run(slate_command(PROGRAM), check=True, capture_output=True).stdout)
    assert tags_of(recording) == BT709
    frame = last_frame(recording, SIZE.width, SIZE.height)
    for colour, pixel in ((BACKGROUND, frame[8, 8]), (MARK, frame[SIZE.height // 2, SIZE.width // 2 - 30])):
        drawn = [int(colour[at : at + 2], 16) for at in (2, 4, 6)]
        assert abs(pixel.astype(int) - drawn).max() <= 3, f"{drawn} arrives as {pixel}"
