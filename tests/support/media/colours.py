"""Patches of known colours: a page that paints them, and how they arrive."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import numpy as np

RGB = tuple[int, int, int]

BT709 = {"color_range": "tv", "color_space": "bt709", "color_primaries": "bt709", "color_transfer": "bt709"}
PATCHES: tuple[RGB, ...] = (
    *((255, 0, 0), (0, 255, 0), (0, 0, 255), (0, 255, 255), (255, 0, 255), (255, 255, 0)),
    *((255, 255, 255), (0, 0, 0), (128, 128, 128), (235, 180, 150), (16, 21, 29), (138, 151, 168)),
)
COLUMNS, ROWS = 6, 2
PAGE = """<!doctype html><body style="margin: 0; height: 100vh; display: grid;
grid: repeat({rows}, 1fr) / repeat({columns}, 1fr)">{patches}"""


def patches_source(width: int, height: int) -> str:
    """A source of lavfi that shows the patches, in RGB."""
    patch_width, patch_height = width // COLUMNS, height // ROWS
    boxes = [
        f"drawbox=x={index % COLUMNS * patch_width}:y={index // COLUMNS * patch_height}"
        f":w={patch_width}:h={patch_height}:color=0x{bytes(patch).hex()}:t=fill"
        for index, patch in enumerate(PATCHES)
    ]
    return ",".join((f"color=s={width}x{height}:r=30,format=gbrp", *boxes))


def patches_page() -> str:
    patches = "".join(f'<div style="background: rgb{patch}"></div>' for patch in PATCHES)
    return PAGE.format(rows=ROWS, columns=COLUMNS, patches=patches)


def tags_of(recording: Path) -> dict[str, str]:
    """What the H.264 stream says of its colours, as far as it is in `BT709`."""
    command: list[str | Path] = ["ffprobe", "-v", "error", "-select_streams", "v", "-show_streams"]
    command += ["-of", "json", recording]
    (stream,) = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)["streams"]
    return {name: stream.get(name, "unknown") for name in BT709}


def last_frame(recording: Path, width: int, height: int) -> np.ndarray[tuple[int, ...], np.dtype[np.uint8]]:
    """RGB as a player shows it, which goes by the tags: height × width × 3."""
    raw = subprocess.run(
        [
            *("ffmpeg", "-v", "error", "-i", recording, "-vf", "scale=flags=accurate_rnd+full_chroma_int"),
            *("-pix_fmt", "rgb24", "-f", "rawvideo", "-"),
        ],
        check=True,
        capture_output=True,
    ).stdout
    return np.frombuffer(raw[-width * height * 3 :], np.uint8).reshape(height, width, 3)


def most_off(picture: Path, width: int, height: int) -> int:
    """How far the worst channel of all patches is off, of 255."""
    seen = np.array(seen_patches(picture, width, height))
    return int(abs(seen - np.array(PATCHES)).max())


def seen_patches(recording: Path, width: int, height: int) -> list[RGB]:
    """The colour in the middle of each patch."""
    frame = last_frame(recording, width, height)
    found = []
    for index in range(len(PATCHES)):
        y = (2 * (index // COLUMNS) + 1) * height // (2 * ROWS)
        x = (2 * (index % COLUMNS) + 1) * width // (2 * COLUMNS)
        red, green, blue = np.median(frame[y - 8 : y + 8, x - 8 : x + 8].reshape(-1, 3), axis=0)
        found.append((int(red), int(green), int(blue)))
    return found
