"""Which of its transitions a layout comes by, and when; what becomes of one that is overtaken."""

from __future__ import annotations

import threading
import time
from itertools import pairwise

import numpy as np
import pytest
from tests.support.media.live_view import LiveRecording, LiveView, Pixels
from tests.support.pages import site
from tests.support.scene import media
from tests.support.scene.live_scene import LiveLayout
from tests.support.scene.on_air import OnAir, square
from tests.support.scene.picture import Colour

from onair_crds.shapes import JsonObject

pytestmark = pytest.mark.media

COLOUR = 4
RED, BLUE, GREEN = (200, 0, 0), (0, 0, 200), (0, 160, 0)
WHITE, YELLOW, PINK = (240, 240, 240), (200, 200, 0), (208, 0, 208)
SOON_MS, LONG_MS = 800, 6000
SWITCHES = 12
"""Of three ways that are as likely, all of these are the same once in 180,000 runs."""
NEAR = 60
"""The first frames after a change are coarse; and a quarter of a second of a transition is that near."""
SIZE = (160, 90)
WAIT_S = 0.65
"""A switch waits for 0.7 s."""


def is_all(pixels: Pixels, colour: Colour, tolerance: int = COLOUR) -> bool:
    return bool(np.abs(pixels.astype(int) - np.array(colour)).max() <= tolerance)


def through(colour: Colour, *from_ids: str) -> JsonObject:
    return {
        "fromLayoutIds": list(from_ids),
        "fadeToColor": {"durationMs": SOON_MS, "backgroundColor": f"rgb{colour}"},
    }


def switched(air: OnAir, view: LiveView, to: LiveLayout, colour: Colour) -> LiveRecording:
    """Selects a layout, which is of one colour; gives what was seen until it was there."""
    with view.recording() as recording:
        air.select(to)
        view.until("the other layout", lambda pixels: is_all(pixels, colour))
    return recording


def passed(recording: LiveRecording, *colours: Colour) -> list[Colour]:
    """Through which of these colours it went."""
    return [each for each in colours if any(is_all(frame.pixels, each, NEAR) for frame in recording.frames)]


def is_cut(frames: list[Pixels]) -> bool:
    """Whether it is red, and from some frame on blue, and nothing else in between.

    Nothing of blue is in the last red frame; the first blue ones are coarse.
    """
    reds = [is_all(each, RED) for each in frames]
    at = reds.index(False)
    return at > 0 and all(is_all(each, BLUE, NEAR) for each in frames[at:])


def test_a_layout_comes_by_a_transition_that_names_the_one_before_else_by_one_for_all(
    air: OnAir, view: LiveView
) -> None:
    first, second = air.scene(ground=square(RED)), air.scene(ground=square(GREEN))
    ways = through(WHITE), through(YELLOW, first.id), through(PINK, "another")
    to = air.scene(*ways, ground=square(BLUE))
    for before, colour, way in ((first, RED, YELLOW), (second, GREEN, WHITE), (first, RED, YELLOW)):
        switched(air, view, before, colour)
        recording = switched(air, view, to, BLUE)
        assert passed(recording, WHITE, YELLOW, PINK) == [way]
    for each in (first, second, to):
        each.delete()


def test_of_several_transitions_one_is_chosen_at_random(air: OnAir, view: LiveView) -> None:
    ways = (WHITE, YELLOW, PINK)
    old, new = air.scene(ground=square(RED)), air.scene(*map(through, ways), ground=square(BLUE))
    seen: set[Colour] = set()
    for _ in range(SWITCHES):
        switched(air, view, old, RED)
        [way] = passed(switched(air, view, new, BLUE), *ways)
        seen.add(way)
        if len(seen) > 1:
            break
    assert len(seen) > 1, f"{SWITCHES} times {seen}"
    for each in (old, new):
        each.delete()


def test_a_selection_in_the_middle_of_a_transition_ends_it(air: OnAir, view: LiveView) -> None:
    old, other = air.scene(ground=square(RED)), air.scene(ground=square(GREEN))
    new = air.scene({"crossfade": {"durationMs": LONG_MS}}, ground=square(BLUE))
    switched(air, view, old, RED)
    with view.recording() as recording:
        air.select(new)
        view.until("a part of the way", lambda pixels: 50 < pixels[100, 300, 2] < 150)
        air.select(other)
        view.until("the third", lambda pixels: is_all(pixels, GREEN))
        began_s = recording.frames[-1].at_s
        while view.frame().at_s < began_s + 1:
            pass
    frames = [each.pixels for each in recording.frames]
    at = next(number for number, pixels in enumerate(frames) if is_all(pixels, GREEN))
    assert all(is_all(each, GREEN) for each in frames[at:]), "it stays"
    assert frames[at - 1][100, 300, 2] < 190, "it was not waited for"
    # Red and blue alone, and less of red from one frame to the next, until the cut
    way = [each[100, 300].astype(int) for each in frames[:at]]
    assert all(colour[1] <= COLOUR for colour in way), way
    assert all(one[2] <= other[2] + COLOUR for one, other in pairwise(way)), way
    for each in (old, other, new):
        each.delete()


def test_a_switch_waits_a_moment_for_a_layer_that_is_not_there(air: OnAir, view: LiveView) -> None:
    given = threading.Event()
    files = {"/late.png": ("image/png", media.png(*SIZE, YELLOW))}
    with site(files, before=lambda _: given.wait(60)) as address:
        picture = {"type": "image", "data": {"media": {"url": f"{address}/late.png"}}}
        old, new = air.scene(ground=square(RED)), air.scene(ground=square(BLUE), picture=picture)
        switched(air, view, old, RED)
        selected_at = time.time()
        recording = switched(air, view, new, BLUE)
        changed = next(each for each in recording.frames if not is_all(each.pixels, RED))
        assert changed.decoded_at - selected_at > WAIT_S
        assert is_cut([each.pixels for each in recording.frames])
        given.set()
        view.until("the layer", lambda pixels: is_all(pixels[5:85, 5:155], YELLOW))
    for each in (old, new):
        each.delete()


def test_a_stinger_that_cannot_be_played_is_a_cut(air: OnAir, view: LiveView) -> None:
    with site({}) as address:
        cut = {"cutPointMs": 1000, "media": {"url": f"{address}/missing.webm"}}
        old, new = air.scene(ground=square(RED)), air.scene({"stinger": {"cut": cut}}, ground=square(BLUE))
        switched(air, view, old, RED)
        recording = switched(air, view, new, BLUE)
    assert is_cut([each.pixels for each in recording.frames])
    for each in (old, new):
        each.delete()
