"""`make demo ARGS=--scene`, as a newcomer runs it."""

from __future__ import annotations

from pathlib import Path

import av
import numpy as np
import pytest
from numpy.typing import NDArray
from tests.support.cluster import LocalCluster
from tests.support.shows import FacadeClient

from onair_dev import scene_demo

Tile = NDArray[np.int_]
TILE = (368, 648)
"""Rows and columns from one frame of the picture to the next."""
SIZE = (360, 640)
COLOUR = 40
"""Of a JPEG, after a codec; what is told apart is further apart."""
SKY = (11, 16, 38)
RED, GREEN, CREAM = (238, 0, 0), (0, 238, 0), (244, 241, 234)
STILL = slice(370, 640)
"""Columns of the second layout in which nothing moves."""
SWIPED = 3.0
"""In the mean, of a picture that has been moved along."""


def is_at(tile: Tile, x: int, y: int, colour: tuple[int, int, int]) -> bool:
    return bool(
        np.abs(tile[y - 1 : y + 2, x - 1 : x + 2].mean(axis=(0, 1)) - np.array(colour)).max() <= COLOUR
    )


def part_of_crossfade(before: Tile, tile: Tile, after: Tile, x: int, y: int) -> float:
    """How far it is at a point, by the channel that changes the most."""
    old, seen, new = (each[y - 2 : y + 3, x - 2 : x + 3].mean(axis=(0, 1)) for each in (before, tile, after))
    channel = int(np.abs(new - old).argmax())
    return float((seen - old)[channel] / (new - old)[channel])


def swiped_px(before: Tile, tile: Tile) -> tuple[int, float]:
    """By how many pixels a layout has gone to the left, and how much what is left of it differs."""

    def off(px: int) -> float:
        from_x = max(STILL.start, px)
        return float(np.abs(tile[:, from_x - px : 640 - px] - before[:, from_x:]).mean())

    return min(((px, off(px)) for px in range(1, 600)), key=lambda found: found[1])


def test_its_picture_shows_layouts_and_the_ways_between_them(
    cluster: LocalCluster, facade: FacadeClient, capsys: pytest.CaptureFixture[str]
) -> None:
    scene_demo.demo(keep=False)
    said = capsys.readouterr().out
    (name,) = [line.split(maxsplit=1)[1] for line in said.splitlines() if line.startswith("picture")]
    with av.open(str(scene_demo.ROOT / Path(name))) as picture:
        pixels = next(picture.decode(video=0)).to_ndarray(format="rgb24").astype(int)
    (height, width), (rows, columns) = SIZE, TILE
    first, fading, second, swiping = (
        pixels[y : y + height, x : x + width] for y in (0, rows) for x in (0, columns)
    )
    assert is_at(first, 20, 150, RED), "the camera is over the whole picture"
    assert is_at(first, 160, 180, GREEN)
    assert is_at(second, 31, 200, CREAM), "the camera is in a frame"
    assert is_at(second, 45, 130, RED)
    assert is_at(second, 10, 10, SKY), "over the picture behind it"
    assert second[90:120, STILL].max() > 200, "beside words"
    parts = [part_of_crossfade(first, fading, second, x, y) for x, y in ((15, 60), (15, 200), (15, 140))]
    assert 0.1 < min(parts) <= max(parts) < 0.9, parts
    assert max(parts) - min(parts) < 0.1, parts
    moved, off = swiped_px(second, swiping)
    assert 40 < moved < 600
    assert off < SWIPED, (moved, off)
    came = swiping[:60, 640 - moved + 4 :]
    assert np.abs(came - second[:60, 4:moved]).mean() < SWIPED, "the last layout comes with its own backdrop"
