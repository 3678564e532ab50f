"""What viewers see of a scene while programs that it comes by are away, and once they are back."""

from __future__ import annotations

import json
from functools import partial

import numpy as np
import pytest
from tests.support.helm import kubectl
from tests.support.media.live_view import LiveRecording, LiveView, Pixels
from tests.support.scene.live_scene import LiveLayout
from tests.support.scene.on_air import WIDTH, OnAir, square
from tests.support.scene.picture import Colour
from tests.support.waiting import wait_for

pytestmark = pytest.mark.media

RED, BLUE, GREEN = (200, 0, 0), (0, 0, 200), (0, 160, 0)
COLOUR = 4
STILL_S = 1.5
"""How long a picture is watched that is to stay."""
BACK_S = 60.0
"""How soon what a test has ended is back, on a busy machine."""


def has(pixels: Pixels, x: int, colour: Colour) -> bool:
    return bool(np.abs(pixels[100, x].astype(int) - np.array(colour)).max() <= COLOUR)


def mark_at(pixels: Pixels, x: int) -> bool:
    """Whether the mark of `marked` is there, whole, and the ground everywhere else."""
    return has(pixels, x + 50, RED) and not any(
        has(pixels, each, RED) for each in range(10, WIDTH, 20) if not x <= each < x + 100
    )


def marked(air: OnAir) -> LiveLayout:
    return air.scene(ground=square(BLUE), mark=square(RED, width=100))


def stays(recording: LiveRecording, x: int) -> None:
    assert recording.frames
    assert all(mark_at(each.pixels, x) for each in recording.frames)


def edited(air: OnAir, scene: LiveLayout, x: int) -> None:
    """Moves the mark as `kubectl edit` does."""
    layers = air.resources.get("layouts", scene.id)["spec"]["layers"]
    moved = [{**each, "x": x} if each["id"] == scene.ids["mark"] else each for each in layers]
    air.resources.patch("layouts", scene.id, {"spec": {"layers": moved}})


def test_kubectl_changes_the_picture_as_http_does(air: OnAir, view: LiveView) -> None:
    scene = marked(air)
    air.select(scene)
    view.until("the scene", lambda pixels: mark_at(pixels, 0))
    layers = air.resources.get("layouts", scene.id)["spec"]["layers"]
    at = next(number for number, each in enumerate(layers) if each["id"] == scene.ids["mark"])
    for x, by_kubectl in ((200, True), (300, False), (400, True)):
        with view.recording() as recording:
            if by_kubectl:
                change = [{"op": "replace", "path": f"/spec/layers/{at}/x", "value": x}]
                given = ("--type", "json", "-p", json.dumps(change))
                said = kubectl(
                    air.control_plane, "-n", air.resources.shows, "patch", "layout", scene.id, *given
                )
                assert said.endswith("patched"), said
            else:
                scene.patch("mark", x=x)
            view.until(f"the mark at {x}", partial(mark_at, x=x))
        caught_up_in_one_step(recording, x - (200 if x == 200 else 100), x)
    scene.delete()


def caught_up_in_one_step(recording: LiveRecording, before: int, after: int) -> None:
    """What was seen is the one picture and then the other, without a jump or a gap."""
    seen = [_which(each.pixels, before, after) for each in recording.frames]
    first = seen.index("new")
    assert set(seen[:first]) == {"old"}, f"the picture stays until then: {seen[: first + 1]}"
    assert set(seen[first:]) == {"new"}, f"and is the new one from then on: {seen[first:]}"


def _which(pixels: Pixels, before: int, after: int) -> str:
    """Old, new, or what else is seen in a row of the picture."""
    if mark_at(pixels, before):
        return "old"
    return "new" if mark_at(pixels, after) else str(pixels[100, 10::40].tolist())


def test_without_those_that_it_comes_by_a_scene_stays_and_catches_up_in_one_step(
    air: OnAir, view: LiveView
) -> None:
    scene = marked(air)
    air.select(scene)
    view.until("the scene", lambda pixels: mark_at(pixels, 0))
    air.operator.kill()
    scene.patch("mark", x=200)
    view.until("a change without an operator", lambda pixels: mark_at(pixels, 200))
    air.redis.stop()
    scene.patch("mark", x=300)
    view.until("a change without Redis", lambda pixels: mark_at(pixels, 300))
    air.facade.kill()
    edited(air, scene, 400)
    air.control_plane.stop_apiserver()
    stays(view.watch(STILL_S), 300)
    air.pod.kill("browser", "/chromium")
    view.until("that nobody draws", lambda pixels: not mark_at(pixels, 300), BACK_S)
    view.until("the same picture, by another browser", lambda pixels: mark_at(pixels, 300), BACK_S)
    stays(view.watch(STILL_S), 300)
    with view.recording() as recording:
        air.control_plane.start_apiserver()
        air.operator.start()
        view.until("what was changed meanwhile", lambda pixels: mark_at(pixels, 400), BACK_S)
    edited(air, scene, 100)
    view.until("kubectl's change, without a facade", lambda pixels: mark_at(pixels, 100))
    air.redis.start()
    air.facade.start()
    wait_for(air.facade_is_ready, "the facade is ready", BACK_S)
    scene.patch("mark", x=500)
    view.until("a change with all of them", lambda pixels: mark_at(pixels, 500))
    scene.delete()
    # Last, as all that was ended has to be there for the tests that follow
    caught_up_in_one_step(recording, 300, 400)


def test_a_browser_that_dies_in_a_transition_comes_back_with_its_target(air: OnAir, view: LiveView) -> None:
    old, new = (
        air.scene(ground=square(RED)),
        air.scene({"crossfade": {"durationMs": 4000}}, ground=square(GREEN)),
    )
    air.select(old)
    view.until("the old layout", lambda pixels: has(pixels, 300, RED), BACK_S)
    air.select(new)
    view.until("half of the way", lambda pixels: 70 < pixels[100, 300, 1] < 120)
    with view.recording() as recording:
        air.pod.kill("browser", "/chromium")
        view.until("the new layout", lambda pixels: has(pixels, 300, GREEN), BACK_S)
    colours = [each.pixels[100, 300].astype(int) for each in recording.frames]
    gone = [max(colour) < 60 for colour in colours]
    assert any(gone), "nobody drew for a while"
    back = colours[gone.index(True) :]
    # Black or the slate, then the target: neither what was before is seen again, nor a window without a page
    assert all(colour[0] < 60 for colour in back), back
    for each in (old, new):
        each.delete()
