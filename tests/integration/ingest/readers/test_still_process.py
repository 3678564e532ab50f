"""A still, decoded as everybody decodes a JPEG, has the colours that its stream says it has."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from tests.support.media.colours import most_off, patches_source

from onair_crds.media.flv import VIDEO, FlvReader
from onair_ingest.readers.still_process import jpeg

pytestmark = pytest.mark.media

WIDTH, HEIGHT = 640, 360
MOST_OFF = 4
"""Of 255, by any channel."""


@pytest.mark.parametrize(
    ("matrix", "range_", "tags"),
    [
        ("bt709", "tv", ("-colorspace", "bt709", "-color_range", "tv")),
        ("bt709", "pc", ("-colorspace", "bt709", "-color_range", "pc")),
        ("bt601", "tv", ("-colorspace", "smpte170m", "-color_range", "tv")),
        ("bt601", "pc", ("-colorspace", "bt470bg", "-color_range", "pc")),
        ("bt709", "tv", ()),
    ],
    ids=["bt709", "bt709-full", "bt601", "bt601-full", "untagged"],
)
def test_a_still_has_the_colours_of_its_stream(
    tmp_path: Path, matrix: str, range_: str, tags: tuple[str, ...]
) -> None:
    flags = "accurate_rnd+full_chroma_inp"
    converted = f"scale=out_color_matrix={matrix}:out_range={range_}:flags={flags},format=yuv420p"
    command = [
        *("ffmpeg", "-v", "error", "-f", "lavfi", "-i", patches_source(WIDTH, HEIGHT), "-vf", converted),
        *("-c:v", "libx264", "-crf", "10", *tags, "-frames:v", "1"),
        *("-f", "flv", "-flvflags", "no_duration_filesize", "pipe:1"),
    ]
    packets = list(FlvReader().feed(subprocess.run(command, check=True, capture_output=True).stdout))
    header = next(packet for packet in packets if packet.type == VIDEO and packet.header)
    key_frame = next(packet for packet in packets if packet.keyframe)
    picture = tmp_path / "still.jpg"
    picture.write_bytes(jpeg(header.body[5:], key_frame.body[5:]))
    assert most_off(picture, WIDTH, HEIGHT) <= MOST_OFF
