"""`make demo ARGS=--scene`, as a newcomer runs it."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import av
import numpy as np
import pytest
from tests.support.cluster import LocalCluster
from tests.support.shows import FacadeClient

from onair_dev import scene_demo

TILE = (376, 656)
"""Rows and columns from one frame of the picture to the next."""
APART = 8
"""Of the brightness in the mean, so that two frames are told apart."""


def test_its_picture_shows_layouts_and_the_ways_between_them(
    cluster: LocalCluster, facade: FacadeClient, capsys: pytest.CaptureFixture[str]
) -> None:
    scene_demo.demo(keep=False)
    said = capsys.readouterr().out
    (name,) = [line.split(maxsplit=1)[1] for line in said.splitlines() if line.startswith("picture")]
    with av.open(str(scene_demo.ROOT / Path(name))) as picture:
        pixels = next(picture.decode(video=0)).to_ndarray(format="gray").astype(int)
    rows, columns = TILE
    frames = [pixels[y : y + 340, x : x + 630] for y in (10, rows) for x in (10, columns)]
    for one, other in combinations(frames, 2):
        assert np.abs(one - other).mean() > APART
