"""Works out what two versions of a project say of its runs: each phase once, in order, to the end. Pure."""

from __future__ import annotations

from onair_api.live.broadcast.run import Run, known_runs, present_run
from onair_api.live.broadcast.verdict import obstacle, verdict
from onair_crds.kube.store import Entry
from onair_crds.resources.enums import BroadcastPhase
from onair_crds.shapes import JsonObject


def broadcast_states(before: Entry | None, after: Entry) -> list[tuple[str, JsonObject]]:
    """The states that runs came to between two versions, each with what distinguishes it from the others.

    A run that was begun also ends: where the versions show none of it any more, or only its archive, it
    STOPPED in between. The last state of a run that failed has its error.
    """
    old = {run.id: run for run in _runs(before)}
    new = {run.id: run for run in _runs(after)}
    found = [
        _state(run, BroadcastPhase.STOPPED)
        for run in old.values()
        if run.id not in new and not run.phase.ended and not _got_its_id(run, old, new)
    ]
    for run in new.values():
        known = old.get(run.id)
        if known and (known.phase, known.error) == (run.phase, run.error):
            continue
        if run.phase is BroadcastPhase.ARCHIVED and not (known and known.phase.ended):
            found.append(_state(run, BroadcastPhase.STOPPED))
        found.append(_state(run, run.phase))
    return found + _obstacles(before, after)


def _obstacles(before: Entry | None, after: Entry) -> list[tuple[str, JsonObject]]:
    """What came to stand in the way of the present run, or does no more: a state without a phase.

    The last states of a run say why it ended.
    """
    run = present_run(after.spec, after.status)
    if not run.on_air:
        return []
    old: JsonObject = {}
    if before and present_run(before.spec, before.status).id == run.id:
        old = obstacle(before.spec, before.status)
    new = obstacle(after.spec, after.status)
    if new.get("reason") == old.get("reason"):
        return []
    why = new or verdict(after.status, run)
    return [(f"{run.id} why {why['reason']}", {"broadcastId": run.id, **why})] if why else []


def _runs(project: Entry | None) -> list[Run]:
    return known_runs(project.spec, project.status) if project else []


def _got_its_id(run: Run, old: dict[str | None, Run], new: dict[str | None, Run]) -> bool:
    """Whether a run that was wanted without an id is one that came in its place."""
    return run.id is None and any(each not in old for each in new)


def _state(run: Run, phase: BroadcastPhase) -> tuple[str, JsonObject]:
    state: JsonObject = {"broadcastId": run.id} if run.id else {}
    return f"{run.id} {phase.value}", {**state, "phase": phase.wire, **run.error}
