"""Triggers under any sequence of connections, held against a model."""

from __future__ import annotations

import datetime as dt

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.triggered_show import TriggeredShow, trigger
from tests.support.worlds import NOW

from onair_crds.shapes import Document

# Property tests: random sources, triggers and times in steps of a quarter of a second.

BOTH = trigger("camera", start="Or", stop="Or")
ACTIONS = st.sampled_from(["Ignore", "Or"])
NAMES = ["camera", "phone"]
STEPS = st.lists(st.tuples(st.integers(1, 30), st.sampled_from(NAMES)), min_size=1, max_size=25)
"""Quarters of a second until a source changes its state, and which."""
TRIGGERS = st.tuples(ACTIONS, ACTIONS, ACTIONS, ACTIONS)
STEP_S = 0.25


def triggers_of(actions: tuple[str, str, str, str]) -> list[Document]:
    return [trigger("camera", *actions[:2]), trigger("phone", *actions[2:])]


def changes(steps: list[tuple[int, str]]) -> dict[int, list[str]]:
    """The sources that change at each quarter."""
    found: dict[int, list[str]] = {}
    at = 0
    for wait, name in steps:
        at += wait
        found.setdefault(at, []).append(name)
    return found


def played(
    triggers: list[Document], steps: list[tuple[int, str]], looks: int = 1
) -> tuple[list[str], list[bool]]:
    """The starters of all runs, and whether the show was on air at each quarter."""
    show = TriggeredShow(*triggers)
    show.look()
    connected = dict.fromkeys(NAMES, False)
    by_time = changes(steps)
    starters, on_air = [], []
    for quarter in range(1, max(by_time) + 30):
        show.now = NOW + dt.timedelta(seconds=quarter * STEP_S)
        for name in by_time.get(quarter, []):
            connected[name] = not connected[name]
            (show.connect if connected[name] else show.disconnect)(name)
        runs = len(show.runs)
        for _ in range(looks):
            show.look()
        if len(show.runs) > runs and show.broadcast:
            starters.append(str(show.broadcast.started_by))
        on_air.append(show.on_air)
    return starters, on_air


def expected(triggers: list[Document], steps: list[tuple[int, str]]) -> tuple[list[str], list[bool]]:
    """The same, from the rule: a state counts once it has lasted, and edges act on the broadcast at once."""
    connected = dict.fromkeys(NAMES, False)
    counted, since = dict(connected), dict.fromkeys(NAMES, 0)
    actions = {each["sourceId"]: each["trigger"] for each in triggers}
    by_time = changes(steps)
    starters, history, on_air = [], [], False
    for quarter in range(1, max(by_time) + 30):
        for name in by_time.get(quarter, []):
            connected[name], since[name] = not connected[name], quarter
        for name in NAMES:
            lasts = (quarter - since[name]) * STEP_S >= (1 if connected[name] else 5)
            if connected[name] is counted[name] or not lasts:
                continue
            counted[name] = connected[name]
            if connected[name] and actions[name]["start"] == "Or" and not on_air:
                on_air = True
                starters.append(name)
            elif not connected[name] and actions[name]["stop"] == "Or":
                on_air = False
        history.append(on_air)
    return starters, history


@settings(max_examples=60, deadline=None, derandomize=True)
@given(TRIGGERS, STEPS)
def test_every_edge_counts_once_and_nothing_else_does(
    actions: tuple[str, str, str, str], steps: list[tuple[int, str]]
) -> None:
    triggers = triggers_of(actions)
    assert played(triggers, steps) == expected(triggers, steps)


@settings(max_examples=30, deadline=None, derandomize=True)
@given(TRIGGERS, STEPS)
def test_looks_of_a_new_leader_repeat_no_edge(
    actions: tuple[str, str, str, str], steps: list[tuple[int, str]]
) -> None:
    triggers = triggers_of(actions)
    assert played(triggers, steps, looks=3) == played(triggers, steps)


@settings(max_examples=30, deadline=None, derandomize=True)
@given(STEPS, st.integers(0, 40))
def test_a_leader_that_was_away_comes_to_the_states_that_last(
    steps: list[tuple[int, str]], away: int
) -> None:
    """What lasted when it is back counts, once; what came and went meanwhile does not."""
    show = TriggeredShow(BOTH)
    show.look()
    connected = False
    for wait, name in steps:
        show.now += dt.timedelta(seconds=wait * STEP_S)
        if name == "camera":
            connected = not connected
            (show.connect if connected else show.disconnect)(name)
    show.after(away * STEP_S + 5)
    assert show.on_air is connected
    assert len(show.runs) == int(connected)


@settings(max_examples=30, deadline=None, derandomize=True)
@given(STEPS)
def test_a_project_of_only_ignore_never_moves(steps: list[tuple[int, str]]) -> None:
    starters, on_air = played([trigger("camera"), trigger("phone")], steps)
    assert starters == []
    assert not any(on_air)
