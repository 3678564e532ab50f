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
from onair_dev.settings import ROOT

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


def is_along(tile: Tile, x: int, rows: range, colour: tuple[int, int, int]) -> bool:
    """Whether most of a column has a colour; a line moves over all of the camera's picture."""
    columns = tile[rows.start : rows.stop, x - 1 : x + 2].mean(axis=1)
    return bool((np.abs(columns - np.array(colour)).max(axis=1) <= COLOUR).mean() > 0.6)


def part_of_crossfade(before: Tile, tile: Tile, after: Tile, x: int, rows: range) -> float:
    """How far it is along a column, by the channel that changes the most: median, as a line moves over it."""
    old, seen, new = (
        each[rows.start : rows.stop, x - 2 : x + 3].mean(axis=1) for each in (before, tile, after)
    )
    channel = int(np.abs(np.median(new - old, axis=0)).argmax())
    return float(np.median((seen - old)[:, channel] / (new - old)[:, channel]))


def swiped_px(before: Tile, tile: Tile) -> tuple[int, float]:
    """By how many pixels a layout has gone to the left, and how much what is left of it differs."""

    def off(px: int) -> float:
        from_x = max(STILL.start, px)
        return float(np.abs(tile[:, from_x - px : 640 - px] - before[:, from_x:]).mean())

    return min(((px, off(px)) for px in range(1, 600)), key=lambda found: found[1])


def test_its_picture_shows_layouts_and_the_ways_between_them(
    cluster: LocalCluster, facade_client: FacadeClient, capsys: pytest.CaptureFixture[str]
) -> None:
    scene_demo.demo(keep=False)
    said = capsys.readouterr().out
    (name,) = [line.split(maxsplit=1)[1] for line in said.splitlines() if line.startswith("picture")]
    with av.open(str(ROOT / Path(name))) as picture:
        pixels = next(picture.decode(video=0)).to_ndarray(format="rgb24").astype(int)
    (height, width), (rows, columns) = SIZE, TILE
    first, fading, second, swiping = (
        pixels[y : y + height, x : x + width] for y in (0, rows) for x in (0, columns)
    )
    assert is_along(first, 20, range(40, 280), RED), "the camera is over the whole picture"
    assert is_along(first, 140, range(40, 240), GREEN)
    assert is_along(second, 31, range(100, 250), CREAM), "the camera is in a frame"
    assert is_along(second, 60, range(100, 240), RED)
    assert is_along(second, 10, range(40), SKY), "over the picture behind it"
    assert second[90:120, STILL].max() > 200, "beside words"
    parts = [part_of_crossfade(first, fading, second, 15, range(y, y + 60)) for y in (40, 100, 160, 220)]
    assert 0.1 < min(parts) <= max(parts) < 0.9, parts
    assert max(parts) - min(parts) < 0.1, parts
    moved, off = swiped_px(second, swiping)
    assert 40 < moved < 600
    assert off < SWIPED, (moved, off)
    came = swiping[:60, 640 - moved + 4 :]
    assert np.abs(came - second[:60, 4:moved]).mean() < SWIPED, "the last layout comes with its own backdrop"
