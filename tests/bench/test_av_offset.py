"""Measures how far apart audio and video of twenty starts arrive at an RTMP server."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.support.delivery.rtmp_container import RtmpContainer
from tests.support.docker import own_image
from tests.support.media.av_start import av_offsets_of_a_start
from tests.support.pages import probe_page

BOUND_MS = 20.0
STARTS = 20


@pytest.mark.parametrize(("width", "height"), [(640, 360), (1280, 720)])
def test_av_offset_of_starts(report: Callable[..., float], tmp_path: Path, width: int, height: int) -> None:
    with probe_page() as page, RtmpContainer(own_image("mediamtx")) as far_end:
        offsets = [
            next(av_offsets_of_a_start(tmp_path / f"{number}", page, far_end, width, height))
            for number in range(STARTS)
        ]
    report(f"A/V offset of starts, {width}x{height}", offsets, "ms")
    farthest = report(
        f"A/V offset of the farthest start, {width}x{height}", [max(map(abs, offsets))], "ms", BOUND_MS
    )
    assert farthest < BOUND_MS * 2
