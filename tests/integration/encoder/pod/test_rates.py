"""What frames show is as far apart as they are, whatever the rate: Chromium paints as often."""

from __future__ import annotations

from itertools import islice, pairwise
from math import inf
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
    if len(steps) <= framerate:  # the slate has no clock
        return inf
    return median(abs(step - 1000 / framerate) for step in steps)


def is_even(far_end: RtmpContainer, framerate: int) -> None:
    found = []
    for _ in range(ATTEMPTS):
        found.append(unevenness_ms(far_end.read_url("rate"), framerate))
        if found[-1] <= NEAR_MS:
            return
    pytest.fail(f"{found} ms")


def test_each_frame_shows_another_paint_and_all_are_as_far_apart(
    pair: PodPair, page: str, far_end: RtmpContainer
) -> None:
    """Also at another rate, and on a screen that has taken the place of one that died."""

    def put(framerate: int) -> None:
        wanted = programme(page, far_end, "rate")
        rate = {"framerate": framerate, "keyframe_interval_frames": framerate}
        video = wanted.video.model_copy(update=rate)
        pair.put(wanted.model_copy(update={"video": video})).raise_for_status()

    def streams() -> float:
        return pair.metrics()["onair_encoder_streams_total"]

    def until_another_ffmpeg(before: float) -> None:
        pair.wait_for(
            lambda: streams() > before and not pair.status().on_slate, "another ffmpeg, of the page"
        )
        pair.wait_connected("rate")

    put(24)
    pair.wait_phase("running")
    pair.wait_connected("rate")
    is_even(far_end, 24)
    for framerate in (25, 24):  # there and back, as a screen knows the former rate already
        before = streams()
        put(framerate)
        until_another_ffmpeg(before)
        is_even(far_end, framerate)
    before = streams()
    pair.kill("browser", "Xvfb")
    until_another_ffmpeg(before)
    is_even(far_end, 24)
