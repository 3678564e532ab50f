"""Why a broadcast is as it is, from the project's conditions: what `kubectl describe` says. Pure."""

from __future__ import annotations

from onair_api.live.broadcast.run import Run, present_run
from onair_crds.shapes import JsonObject

TYPES = ("OnAir", "Ready")
"""Conditions in the order in which they are asked; the last one speaks also where it is True."""


EXPECTED = frozenset({"Waiting", "Starting", "Stopping", "OnAir", "NotRunning", "Stopped"})
"""Reasons for what is as it should be; every other one prevents the broadcast."""


def obstacle(spec: JsonObject, status: JsonObject) -> JsonObject:
    """`{reason, message}` of what prevents the present run; empty if nothing does."""
    why = verdict(status, present_run(spec, status))
    return {} if why.get("reason") in EXPECTED else why


def verdict(status: JsonObject, run: Run) -> JsonObject:
    """`{reason, message}` of the present run; empty if the operator has not yet judged what is shown."""
    judged = status.get("broadcast") or {}
    if not run.record or judged.get("id") != run.id or judged.get("phase") != run.phase.value:
        return {}
    by_type = {each.get("type"): each for each in status.get("conditions") or []}
    for type_ in TYPES:
        condition = by_type.get(type_)
        if condition and (condition.get("status") == "False" or type_ == TYPES[-1]):
            told = {name: condition.get(name) for name in ("reason", "message")}
            return {name: value for name, value in told.items() if value}
    return {}
