"""What frames are held to is found again in frames, and what is wrong in them is seen."""

from __future__ import annotations

import numpy as np
import pytest
from tests.support.scene.rules import SPOILT, Passage, Rule, crossfade, fade_to, line_through, picture, swipe

SIZE = (320, 180)
BEFORE = picture(SIZE, (192, 32, 32), {(20, 20, 60, 40): (255, 255, 255)})
AFTER = picture(SIZE, (32, 32, 160), {(200, 100, 80, 48): (224, 208, 0)})
RULES = {
    "crossfade": crossfade,
    "fadeToColor": fade_to((0, 160, 0)),
    "combined": swipe((-1, 0), "COMBINED"),
    "source": swipe((0, -1), "SOURCE"),
    "destination": swipe((0, 1), "DESTINATION"),
}


@pytest.mark.parametrize("rule", RULES.values(), ids=RULES.keys())
@pytest.mark.parametrize("part", [0, 0.25, 0.4, 0.75, 1])
def test_a_frame_of_a_passage_is_found_where_it_is(rule: Rule, part: float) -> None:
    frame = np.round(rule(BEFORE, AFTER)(part)).astype(np.uint8)
    found, wanted = Passage(rule, BEFORE, AFTER).exactly(frame)
    assert abs(found - part) <= 1 / min(SIZE)
    assert wanted.differing(frame) <= SPOILT
    assert wanted.displaced_px(frame) <= 1


@pytest.mark.parametrize("rule", RULES.values(), ids=RULES.keys())
def test_a_mark_that_is_some_pixels_off_or_of_another_colour_is_seen(rule: Rule) -> None:
    passage = Passage(rule, BEFORE, AFTER)
    moved = picture(SIZE, (192, 32, 32), {(23, 20, 60, 40): (255, 255, 255)})
    frame = np.round(rule(moved, AFTER)(0.2)).astype(np.uint8)
    assert 2 <= passage.exactly(frame)[1].displaced_px(frame) <= 4
    paler = picture(SIZE, (192, 32, 32), {(20, 20, 60, 40): (255, 255, 240)})
    frame = np.round(rule(paler, AFTER)(0.2)).astype(np.uint8)
    wanted = passage.exactly(frame)[1]
    assert wanted.differing(frame) > SPOILT
    assert "differ within" in wanted.fault(frame)


def test_the_line_of_a_passage_is_that_of_most_frames() -> None:
    times = [10 + number / 30 for number in range(30)]
    parts = [number / 30 for number in range(30)]
    parts[7] = 0.9
    assert line_through(times, parts, 1.0).at(0.5) == pytest.approx(10.5)
