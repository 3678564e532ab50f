"""What frames show is as far apart as they are, whatever the rate: Chromium paints as often."""

from __future__ import annotations

from itertools import islice, pairwise
from statistics import median

import pytest
from tests.support.delivery.rtmp_container import RtmpContainer
from tests.support.media.painted import read_frame
from tests.support.media.stream import rgb_frames
from tests.support.pod_pair import PodPair, programme

pytestmark = pytest.mark.media

SECONDS, BEGIN_S = 4, 1
NEAR_MS = 4.0
"""Of 24 or 25 frames and 60 paints a second no step is near: 33 and 50 ms take turns."""
ATTEMPTS = 3


def unevenness_ms(url: str, framerate: int) -> float:
    """How far steps of the page's clock from frame to frame are from the programme's, in the median."""
    frames = islice(rgb_frames(url, 640, 360), SECONDS * framerate)
    seen = [read_frame(frame.mean(axis=2).astype("uint8")) for frame in frames][BEGIN_S * framerate :]
    steps = [after.wall_ms - before.wall_ms for before, after in pairwise(seen) if before and after]
    assert len(steps) > framerate
    return median(abs(step - 1000 / framerate) for step in steps)


@pytest.mark.parametrize("framerate", [24, 25])
def test_each_frame_shows_another_paint_and_all_are_as_far_apart(
    pair: PodPair, page: str, far_end: RtmpContainer, framerate: int
) -> None:
    wanted = programme(page, far_end, "rate")
    rate = {"framerate": framerate, "keyframe_interval_frames": framerate}
    video = wanted.video.model_copy(update=rate)
    pair.put(wanted.model_copy(update={"video": video})).raise_for_status()
    pair.wait_phase("running")
    pair.wait_connected("rate")
    found = []
    for _ in range(ATTEMPTS):
        found.append(unevenness_ms(far_end.read_url("rate"), framerate))
        if found[-1] <= NEAR_MS:
            return
    pytest.fail(f"{found} ms")
