"""A slate that ffmpeg has encoded."""

from __future__ import annotations

import asyncio
import subprocess
from itertools import islice, pairwise
from pathlib import Path

import pytest
from tests.support.media.colours import BT709, last_frame, tags_of

from onair_crds.contract.program import Program, ProgramVideo
from onair_crds.media.flv import AUDIO, SCRIPT, VIDEO, FlvReader
from onair_encoder.encode.codec_options import codec_options, encoded_rate
from onair_encoder.encode.ffmpeg_command import IN_STEP, keyframes
from onair_encoder.media.slate import BACKGROUND, MARK, Slate, slate_command

SIZE = ProgramVideo(width=640, height=360, framerate=30, bitrate_bps=600_000, keyframe_interval_frames=90)
pytestmark = pytest.mark.media
PROGRAM = Program(project="p", broadcast="b", epoch=1, composition_url="http://a.example/", video=SIZE)


def test_a_slate_has_headers_key_frames_and_audio() -> None:
    slate = asyncio.run(Slate.encode(PROGRAM))
    assert slate
    assert {p.type for p in slate.headers} == {SCRIPT, VIDEO, AUDIO}
    packets = list(islice(slate.packets(), 400))
    assert packets[0].keyframe
    pictures = [p for p in packets if p.type == VIDEO]
    assert [number for number, p in enumerate(pictures) if p.keyframe][:2] == [0, 60], "two seconds at most"
    for type_ in (VIDEO, AUDIO):
        times = [p.timestamp_ms for p in packets if p.type == type_]
        assert all(a < b for a, b in pairwise(times))
    assert {round(b - a) for a, b in pairwise(p.timestamp_ms for p in packets if p.type == VIDEO)} == {33, 34}


@pytest.mark.parametrize("interval", [30, 300])
def test_the_headers_of_a_slate_are_those_of_the_programme(interval: int) -> None:
    program = PROGRAM.model_copy(
        update={"video": SIZE.model_copy(update={"keyframe_interval_frames": interval})}
    )
    # As those that capture a screen, pixels of no shape
    screen = ("-f", "rawvideo", "-pix_fmt", "bgr0", "-video_size", f"{SIZE.width}x{SIZE.height}")
    command = [
        *("ffmpeg", "-v", "error", *screen, "-framerate", str(encoded_rate(SIZE.framerate)), "-i", "pipe:0"),
        *("-f", "s16le", "-ar", "48000", "-ac", "2", "-t", "1", "-i", "/dev/zero"),
        *codec_options(program, IN_STEP),
        *("-force_key_frames:v", keyframes(program)),
        *("-f", "fifo", "-fifo_format", "flv", "-format_opts", "flvflags=no_duration_filesize"),
        *("-map", "0:v", "-map", "1:a", "pipe:1"),
    ]
    frames = bytes(SIZE.width * SIZE.height * 4 * 30)
    live = headers_of(subprocess.run(command, input=frames, check=True, capture_output=True).stdout)
    slate = headers_of(subprocess.run(slate_command(program), check=True, capture_output=True).stdout)
    assert set(live) == {SCRIPT, VIDEO, AUDIO}
    assert slate == live


def headers_of(stream: bytes) -> dict[int, bytes]:
    return {p.type: p.body for p in FlvReader().feed(stream) if p.type == SCRIPT or p.header}


def test_a_slate_has_the_colours_of_the_programme(tmp_path: Path) -> None:
    recording = tmp_path / "slate.flv"
    recording.write_bytes(subprocess.run(slate_command(PROGRAM), check=True, capture_output=True).stdout)
    assert tags_of(recording) == BT709
    frame = last_frame(recording, SIZE.width, SIZE.height)
    for colour, pixel in ((BACKGROUND, frame[8, 8]), (MARK, frame[SIZE.height // 2, SIZE.width // 2 - 30])):
        drawn = [int(colour[at : at + 2], 16) for at in (2, 4, 6)]
        assert abs(pixel.astype(int) - drawn).max() <= 3, f"{drawn} arrives as {pixel}"
