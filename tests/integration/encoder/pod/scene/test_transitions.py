"""Transitions as a viewer sees and hears them: each against what its rule gives, at five points in time."""

from __future__ import annotations

import warnings

import pytest
from tests.support.media.live_view import LiveRecording, LiveView, Pixels
from tests.support.scene.on_air import HEIGHT, RATE, WIDTH, OnAir, square
from tests.support.scene.rules import (
    Passage,
    Rule,
    TransitionLine,
    crossfade,
    fade_to,
    line_through,
    picture,
    swipe,
)

from onair_crds.shapes import JsonObject

pytestmark = pytest.mark.media

FRAMES_S = 2 / RATE + 0.005
"""How far a point in time may be off; timestamps are of whole milliseconds."""
SECONDS = 1.0
EDGE_PX = 1
PARTS = (0, 0.25, 0.5, 0.75, 1)
ATTEMPTS = 3
"""A machine that is busy paints late now and then; what was off is in the warnings of a run."""
BEFORE = picture((WIDTH, HEIGHT), (192, 32, 32), {(40, 40, 120, 80): (255, 255, 255)})
AFTER = picture((WIDTH, HEIGHT), (32, 32, 160), {(400, 200, 160, 96): (224, 208, 0)})


OLD = {"ground": square((192, 32, 32)), "mark": square((255, 255, 255), 40, 40, 120, 80)}
NEW = {"ground": square((32, 32, 160)), "mark": square((224, 208, 0), 400, 200, 160, 96)}


def seen(recording: LiveRecording, passage: Passage) -> tuple[TransitionLine, list[tuple[float, Pixels]]]:
    """The line of a transition, and the frames of the time around it."""
    frames = [(each.at_s, each.pixels) for each in recording.frames]
    parts = [(at_s, passage.part_of(pixels)) for at_s, pixels in frames]
    moving = [(at_s, part) for at_s, part in parts if 0.02 < part < 0.98]
    assert len(moving) > RATE * SECONDS / 2, [round(part, 2) for _, part in parts]
    return line_through([at_s for at_s, _ in moving], [part for _, part in moving], SECONDS), frames


def faults(line: TransitionLine, frames: list[tuple[float, Pixels]], passage: Passage) -> list[str]:
    """What is off at any of five points: its time, its edges, or its colours."""
    found_faults = []
    for part in PARTS:
        at_s, pixels = min(frames, key=lambda frame: abs(frame[0] - line.at(part)))
        found, wanted = passage.exactly(pixels)
        late_s = line.at(found) - min(max(at_s, line.at(0)), line.at(1))
        where = f"at {part} of the time, {at_s - line.began_s:.3f} s, it is at {found:.4f}"
        if not wanted.shown(pixels):
            found_faults.append(f"{where}: {wanted.fault(pixels)}")
        elif (displaced_px := wanted.displaced_px(pixels)) > EDGE_PX:
            found_faults.append(f"{where}: an edge is {displaced_px} px off")
        elif abs(late_s) > FRAMES_S:
            found_faults.append(f"{where}: {late_s:.3f} s off")
    return found_faults


Transition = tuple[JsonObject, Rule]
SWIPES = {"LEFT": (-1, 0), "RIGHT": (1, 0), "UP": (0, -1), "DOWN": (0, 1)}


def swiped(direction: str, moves: str) -> Transition:
    given = {
        "durationMs": 1000,
        "direction": f"TRANSITION_DIRECTION_{direction}",
        "combinedAnimation": f"TRANSITION_SWIPE_TYPE_{moves}",
    }
    return {"swipe": given}, swipe(SWIPES[direction], moves)


FADE: Transition = {"crossfade": {"durationMs": 1000}}, crossfade
TO_COLOR: Transition = (
    {"fadeToColor": {"durationMs": 1000, "backgroundColor": "#00a000"}},
    fade_to((0, 160, 0)),
)
KINDS = {"COMBINED": "both", "SOURCE": "the old", "DESTINATION": "the new"}
THERE_AND_BACK = {
    "crossfade, fadeToColor": (FADE, TO_COLOR),
    **{
        f"{who} {there.lower()}, {back.lower()}": (swiped(there, moves), swiped(back, moves))
        for moves, who in KINDS.items()
        for there, back in (("LEFT", "RIGHT"), ("UP", "DOWN"))
    },
}


@pytest.mark.parametrize(("there", "back"), THERE_AND_BACK.values(), ids=THERE_AND_BACK)
def test_a_transition_is_seen_as_its_rule_says(
    air: OnAir, view: LiveView, there: Transition, back: Transition
) -> None:
    old, new = air.scene(back[0], **OLD), air.scene(there[0], **NEW)
    air.select(old)
    view.until("the old layout", Passage(there[1], BEFORE, AFTER).before.shown)
    for coming, leaving, passage in (
        (new, old, Passage(there[1], BEFORE, AFTER)),
        (old, new, Passage(back[1], AFTER, BEFORE)),
    ):
        off: list[list[str]] = []
        for _ in range(ATTEMPTS):
            with view.recording() as recording:
                air.select(coming)
                view.until("the layout that comes", passage.after.shown)
            line, frames = seen(recording, passage)
            off.append(faults(line, frames, passage))
            if not off[-1]:
                break
            first = f"first {line.began_s - frames[0][0]:.3f} s before: {passage.before.fault(frames[0][1])}"
            warnings.warn(f"a transition was not as its rule says: {off[-1]}; {first}", stacklevel=1)
            air.select(leaving)
            view.until("the layout that goes", passage.before.shown)
        assert not off[-1], off
    for each in (old, new):
        each.delete()


@pytest.mark.parametrize("transitions", [(), ({"cut": {}},)], ids=["none", "cut"])
def test_a_cut_shows_the_one_or_the_other(
    air: OnAir, view: LiveView, transitions: tuple[JsonObject, ...]
) -> None:
    old, new = air.scene(**OLD), air.scene(*transitions, **NEW)
    cut = Passage(crossfade, BEFORE, AFTER)
    air.select(old)
    view.until("the old layout", cut.before.shown)
    with view.recording() as recording:
        air.select(new)
        view.until("the new layout", cut.after.shown)
        view.watch(0.5)
    for each in (old, new):
        each.delete()
    after = [cut.after.shown(each.pixels) for each in recording.frames]
    at = after.index(True)
    assert all(cut.before.shown(each.pixels) for each in recording.frames[:at])
    assert all(after[at:])
