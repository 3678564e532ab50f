"""A page whose motion goes by time is painted once for each frame, others as often as browsers do."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from statistics import median

import pytest
from tests.support.delivery.rtmp_container import RtmpContainer
from tests.support.pages import responding
from tests.support.pod_pair import PodPair, programme

pytestmark = pytest.mark.media

PAGE = """<!doctype html><div style="width: 99px; height: 99px; background: #00f"></div><script>
let frames = 0, since = performance.now(), word = '';
const box = document.querySelector('div');
const frame = now => {
  box.style.transform = `translateX(${now / 10 % 500}px)`;
  frames += 1;
  requestAnimationFrame(frame);
};
requestAnimationFrame(frame);
setInterval(async () => {
  const now = performance.now(), rate = frames / (now - since) * 1000;
  [frames, since] = [0, now];
  const next = await (await fetch(`/rate?${rate}`)).text();
  if (next && next !== word) console.log(word = next);
}, 500);
</script>"""
LOOKED_S = 5.0
"""By then paints were measured three times."""
SETTLE_S = 60.0
"""A busy machine may find the paints of a page late at first, and looks again after 20 s."""


@dataclass
class MovingPage:
    """What the page is to say of itself, and how many animation frames a second it has."""

    url: str = ""
    word: str = ""
    per_second: float = 0.0


@pytest.fixture
def moving() -> Iterator[MovingPage]:
    page = MovingPage()
    rates: list[float] = []

    def respond(path: str) -> tuple[int, str]:
        if not path.startswith("/rate?"):
            return 200, PAGE
        rates.append(float(path.partition("?")[2]))
        page.per_second = median(rates[-3:])
        return 200, page.word

    with responding(respond) as page.url:
        yield page


def bring_in_step(pair: PodPair) -> None:
    """Starts ffmpeg again while it was late, as on a busy machine: such a page keeps the usual rate."""
    killed: list[float] = []
    """Phases, which tell one ffmpeg from the next."""

    def is_in_step() -> bool:
        found = pair.metrics()
        phase = found.get("onair_encoder_capture_phase_seconds")
        if phase is None or phase in killed:
            return False
        if not found["onair_encoder_captures_in_step"]:
            killed.append(phase)
            assert pair.kill("encoder", "x11grab")
        return phase not in killed

    pair.wait_for(is_in_step, "captures in step", SETTLE_S)


def test_a_page_is_painted_once_for_each_frame_while_it_says_that_its_motion_goes_by_time(
    pair: PodPair, far_end: RtmpContainer, moving: MovingPage
) -> None:
    def paints() -> float:
        return pair.metrics()["onair_encoder_paints_per_second"]

    pair.put(programme(moving.url, far_end, "rate")).raise_for_status()
    pair.wait_phase("running")
    pair.wait_for(lambda: moving.per_second > 55, "the usual rate")
    assert paints() == pytest.approx(60, abs=0.1)
    moving.word = "onair:time-based"
    bring_in_step(pair)
    pair.wait_for(lambda: paints() < 31, "a paint for each frame", SETTLE_S)
    pair.wait_for(lambda: 25 < moving.per_second < 35, "as many animation frames")
    moving.word = "onair:frame-based"
    pair.wait_for(lambda: moving.per_second > 55, "the usual rate again")
    assert paints() == pytest.approx(60, abs=0.1)


def test_a_page_that_says_nothing_keeps_its_animation_frames(
    pair: PodPair, far_end: RtmpContainer, moving: MovingPage
) -> None:
    pair.put(programme(moving.url, far_end, "rate")).raise_for_status()
    pair.wait_phase("running")
    until_s = time.monotonic() + LOOKED_S
    while time.monotonic() < until_s:
        assert pair.metrics()["onair_encoder_paints_per_second"] == pytest.approx(60, abs=0.1)
        time.sleep(0.1)
    pair.wait_for(lambda: moving.per_second > 40, "its animation frames", SETTLE_S)
