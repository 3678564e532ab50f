"""`make demo`, as whoever has run it before runs it again."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import av
import numpy as np
import pytest
from tests.support.cluster import LocalCluster

from onair_dev.settings import ROOT

TIMEOUT_S = 300
COLOUR = 40
"""Of a JPEG, after a codec."""
SKY, HILL = (12, 14, 38), (246, 146, 94)
"""Of the page for people, at its top and at its bottom; the test page is gray there."""
OF_AN_OUTER_MAKE = {"MAKEFLAGS", "MFLAGS", "MAKEOVERRIDES", "MAKELEVEL", "ARGS"}


@pytest.mark.usefixtures("facade_client")
def test_a_show_is_put_on_air_and_its_picture_kept(cluster: LocalCluster) -> None:
    environment = {name: value for name, value in os.environ.items() if name not in OF_AN_OUTER_MAKE}
    result = subprocess.run(
        ["make", "demo"],
        cwd=ROOT,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
    )
    said = result.stdout + result.stderr
    assert result.returncode == 0, said
    assert "Traceback" not in said
    (name,) = [line.split(maxsplit=1)[1] for line in said.splitlines() if line.startswith("picture")]
    with av.open(str(ROOT / Path(name))) as picture:
        pixels = next(picture.decode(video=0)).to_ndarray(format="rgb24").astype(int)
    assert pixels.shape == (720, 1280, 3)
    for rows, colour in ((slice(2, 12), SKY), (slice(690, 715), HILL)):
        seen = pixels[rows, 500:900].mean(axis=(0, 1))
        assert np.abs(seen - colour).max() < COLOUR, "not the page that follows the test page"
