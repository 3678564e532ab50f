"""A source's start that waits, for the end of a run or for room within a quota, and how it is called off."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.triggered_show import TriggeredShow, trigger

from onair_api.live.broadcast.run import present_run, wanted_start, wanted_stop
from onair_operator.project.broadcast_state_machine import QUOTA_RETRY_S

STARTS = trigger("camera", start="Or")
PHASES = ["Stopping", "held by a quota"]


def pending(phase: str) -> TriggeredShow:
    """A show that the camera starts once the present run has ended, or there is room."""
    show = TriggeredShow(STARTS)
    show.look()
    if phase == "Stopping":
        show.ends_slowly = True
        show.want("Running", id="first")
        show.after(1)
        show.want("Stopped", stopped="first")
        show.after(1)
    else:
        show.used_up = "the quota is used up"
    show.connect("camera")
    show.after(1)
    assert not show.on_air
    assert show.project.status.trigger_start == "camera"
    return show


def let_it_begin(show: TriggeredShow) -> list[str]:
    """Takes away what it waits for; gives the sources that have started a run."""
    show.ends_slowly, show.used_up = False, None
    for _ in range(3):
        show.after(QUOTA_RETRY_S)
    return [show.broadcast.started_by] if show.broadcast and show.broadcast.started_by else []


@pytest.mark.parametrize("phase", PHASES)
def test_a_start_that_waits_begins_a_run(phase: str) -> None:
    assert let_it_begin(pending(phase)) == ["camera"]


@pytest.mark.parametrize("phase", PHASES)
@pytest.mark.parametrize(
    "triggers",
    [[], [trigger("camera", stop="Or")], [{"sourceId": "camera"}], [trigger("phone", start="Or")]],
    ids=["no source", "another action", "no trigger", "another source"],
)
def test_one_whose_trigger_is_removed_is_called_off(phase: str, triggers: list[dict[str, object]]) -> None:
    show = pending(phase)
    show.change(*triggers)
    show.look()
    assert show.project.status.trigger_start is None
    assert let_it_begin(show) == []


def stop(show: TriggeredShow) -> None:
    """Writes what a stop over HTTP writes."""
    known = show.project.model_dump(mode="json", by_alias=True, exclude_none=True)
    wanted = wanted_stop(known["spec"], known["status"])
    show.want(**wanted)


@pytest.mark.parametrize("phase", PHASES)
@pytest.mark.parametrize("looks", [0, 1])
def test_a_stop_calls_it_off_once_or_twice(phase: str, looks: int) -> None:
    show = pending(phase)
    before = show.broadcast
    for _ in range(2):
        stop(show)
        for _ in range(looks):
            show.look()
    show.look()
    assert show.project.status.trigger_start is None
    known = show.project.model_dump(mode="json", by_alias=True, exclude_none=True)
    assert present_run(known["spec"], known["status"]).id == (before and before.id)
    assert let_it_begin(show) == []


@pytest.mark.parametrize("phase", PHASES)
def test_a_stop_that_comes_late_ends_the_run_that_has_begun(phase: str) -> None:
    show = pending(phase)
    named = show.project.status.trigger_run
    assert let_it_begin(show) == ["camera"]
    assert show.broadcast
    assert show.broadcast.id == named
    show.want("Stopped", stopped=named)
    show.look()
    assert not show.on_air


@pytest.mark.parametrize("phase", PHASES)
def test_a_stop_calls_no_later_start_off(phase: str) -> None:
    show = pending(phase)
    stop(show)
    show.look()
    show.disconnect("camera")
    show.after(5)
    show.connect("camera")
    show.after(1)
    assert show.project.status.trigger_start == "camera"
    assert let_it_begin(show) == ["camera"]


def test_a_stop_and_a_start_and_a_stop_before_the_next_look_call_it_off() -> None:
    show = pending("Stopping")
    stop(show)
    show.want("Running", id="second")
    stop(show)
    assert let_it_begin(show) == []
    assert show.runs == ["first"]


def test_a_start_after_the_stop_is_a_run_of_its_own() -> None:
    show = pending("Stopping")
    stop(show)
    show.want("Running", id="second")
    let_it_begin(show)
    assert show.runs == ["first", "second"]


@pytest.mark.parametrize("looks", [0, 1])
def test_running_after_the_stop_is_a_new_run_without_an_id_too(looks: int) -> None:
    show = pending("Stopping")
    named = show.project.status.trigger_run
    stop(show)
    for _ in range(looks):
        show.look()
    show.want("Running", stopped=str(named))
    assert let_it_begin(show) == []
    assert len(show.runs) == 2
    assert show.on_air


def test_stopped_by_kubectl_calls_off_what_waits_beside_running() -> None:
    """The spec has gone on saying Running, as a source has ended the run."""
    show = TriggeredShow(trigger("camera", start="Or", stop="Or"))
    show.look()
    show.ends_slowly = True
    show.connect("camera")
    show.after(1)
    show.want("Running")
    show.look()
    show.disconnect("camera")
    show.after(5)
    show.connect("camera")
    show.after(1)
    assert show.project.status.trigger_start == "camera"
    show.want("Stopped")
    show.look()
    assert show.project.status.trigger_start is None
    assert let_it_begin(show) == ["camera"], "of the run that has ended"
    assert len(show.runs) == 1


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.lists(st.sampled_from(["start", "stop", "look", "reconnect", "slow", "quick", "full", "room"])))
def test_nothing_begins_after_the_last_stop_without_another_edge(steps: list[str]) -> None:
    show = TriggeredShow(trigger("camera", start="Or", stop="Or"))
    show.look()
    for number, step in enumerate([*steps, "stop"]):
        known = show.project.model_dump(mode="json", by_alias=True, exclude_none=True)
        match step:
            case "start":
                show.want(**wanted_start(known["spec"], known["status"], f"run-{number}")[1])
            case "stop":
                stop(show)
            case "look":
                show.look()
            case "reconnect":
                show.disconnect("camera")
                show.after(5)
                show.connect("camera")
                show.after(1)
            case "slow" | "quick":
                show.ends_slowly = step == "slow"
            case _:
                show.used_up = "the quota is used up" if step == "full" else None
    runs = list(show.runs)
    let_it_begin(show)
    assert not show.on_air
    assert show.runs == runs
