"""Which condition says why a broadcast is as it is."""

from __future__ import annotations

import pytest

from onair_api.live.broadcast.run import Run, present_run
from onair_api.live.broadcast.verdict import verdict
from onair_crds.shapes import JsonObject

SPEC: JsonObject = {"broadcast": {"state": "Running", "id": "x"}}
READY: JsonObject = {"type": "Ready", "status": "True", "reason": "OnAir", "message": "on air"}
ON_AIR: JsonObject = {"type": "OnAir", "status": "True", "reason": "OnAir", "message": "on air"}
SLATE: JsonObject = {
    "type": "OnAir",
    "status": "False",
    "reason": "Slate",
    "message": "the page does not load",
}
LOST: JsonObject = {"type": "Ready", "status": "False", "reason": "NoCapacity", "message": "no node"}


@pytest.mark.parametrize(
    ("conditions", "told"),
    [
        ([READY], {"reason": "OnAir", "message": "on air"}),
        ([READY, ON_AIR], {"reason": "OnAir", "message": "on air"}),
        ([READY, SLATE], {"reason": "Slate", "message": "the page does not load"}),
        ([LOST, ON_AIR], {"reason": "NoCapacity", "message": "no node"}),
        ([{"type": "Ready", "status": "True", "reason": "OnAir"}], {"reason": "OnAir"}),
        ([], {}),
    ],
)
def test_the_slate_comes_first_then_what_ready_says(conditions: list[JsonObject], told: JsonObject) -> None:
    status = {"broadcast": {"id": "x", "phase": "Running"}, "conditions": conditions}
    assert verdict(status, present_run(SPEC, status)) == told


@pytest.mark.parametrize(
    "spec",
    [
        {"broadcast": {"state": "Stopped", "stopped": "x"}},
        {"broadcast": {"state": "Running", "id": "y"}},
    ],
    ids=["a stop that the operator has not seen", "a start that the operator has not seen"],
)
def test_nothing_is_said_of_what_the_operator_has_not_judged(spec: JsonObject) -> None:
    status = {"broadcast": {"id": "x", "phase": "Running"}, "conditions": [READY]}
    run: Run = present_run(spec, status)
    assert verdict(status, run) == {}
