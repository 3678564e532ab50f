"""A snapshot, decoded as everybody decodes a JPEG, has the colours of the programme."""

from __future__ import annotations

import asyncio
import subprocess
from pathlib import Path

import pytest
from tests.support.media.colours import most_off, patches_source

from onair_crds.contract.program import Program, ProgramVideo
from onair_crds.media.flv import FlvReader
from onair_encoder.encode.codec_options import codec_options
from onair_encoder.media.fan_out import FanOut
from onair_encoder.media.snapshot import Snapshots

pytestmark = pytest.mark.media

SIZE = ProgramVideo(width=640, height=360, framerate=30, bitrate_bps=2_000_000, keyframe_interval_frames=30)
PROGRAM = Program(project="p", broadcast="b", epoch=1, composition_url="http://a.example/", video=SIZE)
MOST_OFF = 3
"""Of 255, by any channel."""


def test_a_snapshot_has_the_colours_of_the_programme(tmp_path: Path) -> None:
    command = [
        *("ffmpeg", "-v", "error", "-f", "lavfi", "-i", patches_source(SIZE.width, SIZE.height)),
        *codec_options(PROGRAM),
        *("-frames:v", "1", "-f", "flv", "-flvflags", "no_duration_filesize", "pipe:1"),
    ]
    fan_out = FanOut()
    for packet in FlvReader().feed(subprocess.run(command, check=True, capture_output=True).stdout):
        fan_out.put(packet)
    picture = tmp_path / "snapshot.jpg"
    picture.write_bytes(asyncio.run(Snapshots(fan_out).jpeg()))
    assert most_off(picture, SIZE.width, SIZE.height) <= MOST_OFF
