"""What versions of a project tell of its runs, under every interleaving of starts, stops and the operator."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.documents import document

from onair_api.event.changes.broadcast_states import broadcast_states
from onair_api.live.broadcast.run import wanted_start, wanted_stop
from onair_crds.contract.runs import with_used
from onair_crds.kube.store import Entry
from onair_crds.shapes import Document

INTERNAL = "PROJECT_BROADCAST_ERROR_INTERNAL"


def version(wanted: Document, **status: Any) -> Entry:
    return Entry("Project", {**document("p", {"broadcast": wanted}, uid="u"), "status": status})


def run(id_: str, phase: str, **more: Any) -> Document:
    return {"id": id_, "phase": phase, **more}


def told(*versions: Entry) -> list[str]:
    """The states told of, as `id PHASE` and ` with the error`."""
    return [
        f"{state.get('broadcastId', '?')} "
        + str(state.get("phase", state.get("reason"))).removeprefix("PROJECT_BROADCAST_PHASE_")
        + (" with the error" if state.get("error") == INTERNAL else "")
        for state in _of(*versions)
    ]


def _of(*versions: Entry) -> list[Document]:
    before: tuple[Entry | None, ...] = (None, *versions)
    return [state for pair in zip(before, versions, strict=False) for _, state in broadcast_states(*pair)]


IDLE = version({"state": "Stopped"})
START_X, START_Y = {"state": "Running", "id": "x"}, {"state": "Running", "id": "y"}
STOP_X = {"state": "Stopped", "stopped": "x"}


def test_a_start_and_a_stop_before_the_operator_acts_have_an_end() -> None:
    assert told(IDLE, version(START_X), version(STOP_X)) == ["x WAITING", "x STOPPED"]
    by_kubectl = version({"state": "Stopped", "id": "x"})
    assert told(IDLE, version(START_X), by_kubectl) == ["x WAITING", "x STOPPED"]


def test_a_run_without_an_id_that_is_stopped_at_once_has_an_end() -> None:
    wanted = version({"state": "Running"})
    assert told(IDLE, wanted, IDLE) == ["? WAITING", "? STOPPED"]


def test_a_run_that_gets_its_id_is_one_run() -> None:
    wanted = {"state": "Running"}
    taken = version(wanted, broadcast=run("made-up", "Waiting"))
    running = version(wanted, broadcast=run("made-up", "Running"))
    assert told(IDLE, version(wanted), taken, running) == ["? WAITING", "made-up WAITING", "made-up RUNNING"]


def test_a_start_while_the_run_before_is_stopping_tells_its_end() -> None:
    versions = [
        version(START_X, broadcast=run("x", "Running")),
        version(STOP_X, broadcast=run("x", "Running")),
        version(START_Y, broadcast=run("x", "Running")),
        version(START_Y, broadcast=run("x", "Stopping")),
        version(START_Y, broadcast=run("x", "Stopped")),
        version(START_Y, broadcast=run("y", "Waiting"), previous=run("x", "Archived")),
        version(START_Y, broadcast=run("y", "Running"), previous=run("x", "Archived")),
    ]
    assert told(IDLE, *versions) == [
        "x RUNNING",
        "x STOPPING",
        "y WAITING",
        "x STOPPED",
        "x ARCHIVED",
        "y RUNNING",
    ]


@pytest.mark.parametrize("phase", ["Running", "Stopping"])
def test_a_run_that_is_archived_before_its_stop_was_seen_is_told_as_stopped(phase: str) -> None:
    versions = [
        version(START_X, broadcast=run("x", phase, error="Internal")),
        version(START_Y, broadcast=run("y", "Waiting"), previous=run("x", "Archived", error="Internal")),
    ]
    assert told(*versions)[1:] == ["x STOPPED with the error", "x ARCHIVED with the error", "y WAITING"]


def test_a_run_is_archived_once() -> None:
    versions = [
        version(STOP_X, broadcast=run("x", "Stopped")),
        version(STOP_X, broadcast=run("x", "Archived")),
        version(START_Y, broadcast=run("x", "Archived")),
        version(START_Y, broadcast=run("y", "Waiting"), previous=run("x", "Archived")),
    ]
    assert told(*versions) == ["x STOPPED", "x ARCHIVED", "y WAITING"]


def test_the_last_event_of_a_failed_run_has_the_error() -> None:
    failed = {"error": "Internal"}
    versions = [
        version(START_X, broadcast=run("x", "Stopping", **failed)),
        version(START_X, broadcast=run("x", "Stopped", **failed)),
        version(START_X, broadcast=run("x", "Archived", **failed)),
    ]
    assert told(*versions)[-1] == "x ARCHIVED with the error"


def ready(reason: str, status: str = "False") -> Document:
    return {"type": "Ready", "status": status, "reason": reason, "message": f"about {reason}"}


def why(*conditions: Document | None, phase: str = "Waiting") -> list[Document]:
    """States without a phase, of versions with these conditions."""
    record = {"broadcast": run("x", phase)}
    versions = [version(START_X, **record, conditions=[each] if each else []) for each in conditions]
    return [state for state in _of(*versions) if "phase" not in state]


def test_what_stands_in_the_way_is_told_when_it_comes_and_when_it_goes() -> None:
    lost = ready("NoCapacity")
    assert why(ready("Waiting"), lost, lost, ready("Waiting")) == [
        {"broadcastId": "x", "reason": "NoCapacity", "message": "about NoCapacity"},
        {"broadcastId": "x", "reason": "Waiting", "message": "about Waiting"},
    ]
    slate = {**ready("Slate"), "type": "OnAir"}
    on_air = ready("OnAir", "True")
    assert [each["reason"] for each in why(on_air, slate, on_air, phase="Running")] == ["Slate", "OnAir"]


def test_what_goes_as_it_should_is_told_by_its_phase_alone() -> None:
    assert why(None, ready("Waiting"), ready("Starting")) == []
    lost = {"broadcast": run("x", "Running"), "conditions": [ready("CompositionUnreachable")]}
    before, another = version(START_X, **lost), version(START_Y, **lost)
    failed = run("x", "Stopped", error="Internal")
    after = version(START_X, broadcast=failed, conditions=[ready("EncoderFailed")])
    assert told(before, after)[2:] == ["x STOPPED with the error"], "why it ended is told by the last state"
    assert told(before, another)[2:] == ["x STOPPING", "y WAITING"]


@settings(max_examples=300, deadline=None)
@given(st.lists(st.sampled_from(["start", "stop", "operator", "look"]), max_size=40))
def test_under_every_interleaving_each_run_ends_once_and_after_its_beginning(steps: list[str]) -> None:
    """The operator is a model of the real one; a watch shows only the versions at `look`."""
    spec: Document = {}
    status: Document = {}
    ids = (f"run-{number}" for number in itertools.count())
    versions = [version({})]
    for step in [*steps, "stop", *["operator", "look"] * 4]:
        match step:
            case "start":
                spec = {"broadcast": wanted_start(spec, status, next(ids))[1]}
            case "stop":
                spec = {"broadcast": wanted_stop(spec, status)}
            case "operator":
                status = operated(spec["broadcast"], status) if spec.get("broadcast") else status
            case _:
                versions.append(version(spec.get("broadcast", {}), **status))
    by_run: dict[str, list[str]] = {}
    for state in told(*versions):
        id_, phase = state.split()
        by_run.setdefault(id_, []).append(phase)
    for phases in by_run.values():
        assert phases.count("STOPPED") == 1, by_run
        assert phases.count("ARCHIVED") <= 1, by_run
        ended = phases[phases.index("STOPPED") :]
        assert ended in (["STOPPED"], ["STOPPED", "ARCHIVED"]), by_run


def operated(wanted: Document, status: Document) -> Document:
    """One step of an operator."""
    current = status.get("broadcast")
    used = status.get("used", [])
    following = {"Waiting": "Starting", "Starting": "Running", "Running": "Running", "Stopping": "Stopped"}
    active = current and current["phase"] not in ("Stopped", "Archived")
    if current and active:
        over = wanted["state"] == "Stopped" or wanted.get("id", current["id"]) != current["id"]
        phase = "Stopping" if over and current["phase"] != "Stopping" else following[current["phase"]]
        return {**status, "broadcast": {**current, "phase": phase}}
    if wanted["state"] == "Running" and (not current or current["id"] != wanted["id"]):
        begun = {"broadcast": run(wanted["id"], "Waiting")}
        if not current:
            return {**status, **begun}
        return {
            **begun,
            "previous": {**current, "phase": "Archived"},
            "used": with_used(used, current["id"]),
        }
    return status
