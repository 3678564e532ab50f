"""The runs of a show, from wanted and observed state together. Pure.

The operator acts a moment after a start or a stop is written. Until then clients are shown what was asked
for: WAITING after a start, STOPPING after a stop, STOPPED after a stop of what the operator never took up.
"""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass, field
from typing import Any

from onair_crds.contract.runs import was_used
from onair_crds.resources.enums import BroadcastError, BroadcastPhase, BroadcastState, Region
from onair_crds.shapes import JsonObject


@dataclass(frozen=True)
class Run:
    """One run. `id` is None before any, and where the operator has yet to generate one (`kubectl`)."""

    id: str | None
    phase: BroadcastPhase
    record: JsonObject = field(default_factory=dict)
    """The operator's record of it; empty until it acted."""

    @property
    def on_air(self) -> bool:
        """Waiting, Starting or Running."""
        return self.phase.active

    @property
    def error(self) -> JsonObject:
        """`{error}` where it ended by itself."""
        error = next((each for each in BroadcastError if each.value == self.record.get("error")), None)
        return {"error": error.wire} if error else {}


def is_on_air(spec: JsonObject, status: JsonObject) -> bool:
    """Whether a project's broadcast waits, starts or runs, or is wanted to."""
    return present_run(spec, status).on_air


NO_RUN = Run(None, BroadcastPhase.NOT_RUNNING)


def known_runs(spec: JsonObject, status: JsonObject) -> list[Run]:
    """All runs that spec and status know, the oldest first; the last is the present one."""
    wanted: JsonObject = spec.get("broadcast") or {}
    previous, current = status.get("previous"), status.get("broadcast")
    runs = [Run(previous["id"], _recorded(previous), previous)] if previous else []
    if current:
        runs.append(Run(current["id"], _phase(wanted, current, status), current))
    running = wanted.get("state") == BroadcastState.RUNNING
    untaken = wanted.get("id") if running else wanted.get("stopped")
    if not running and untaken == status.get("triggerRun"):
        # A source's start that was called off: no client has seen that run.
        untaken = None
    if untaken and not _was_taken_up(untaken, status):
        runs.append(Run(untaken, BroadcastPhase.WAITING if running else BroadcastPhase.STOPPED))
    elif running and not current:
        runs.append(Run(None, BroadcastPhase.WAITING))
    return runs


def present_run(spec: JsonObject, status: JsonObject) -> Run:
    """The run that clients are shown."""
    runs = known_runs(spec, status)
    return runs[-1] if runs else NO_RUN


def _was_taken_up(run_id: str, status: JsonObject) -> bool:
    """Whether the operator ever began this run."""
    records = (status.get("previous"), status.get("broadcast"))
    return any(each and each.get("id") == run_id for each in records) or was_used(
        run_id, status.get("used") or ()
    )


def _phase(wanted: JsonObject, current: JsonObject, status: JsonObject) -> BroadcastPhase:
    """The operator's phase, or STOPPING where a stop of this very run, or another run, was asked for.

    A run that a source has started continues next to an id that was used before it.
    """
    phase = _recorded(current)
    named = wanted.get("id")
    if wanted.get("state") == BroadcastState.RUNNING:
        another = bool(named) and named != current["id"]
        if named and another and current.get("startedBy"):
            another = not _was_taken_up(named, status)
        over = wanted.get("stopped") == current["id"] or another
    else:
        over = current["id"] in (wanted.get("stopped"), named)
    return BroadcastPhase.STOPPING if phase.active and over else phase


def _recorded(record: JsonObject) -> BroadcastPhase:
    """The operator's phase; of one that only a newer operator knows, whether the run has ended."""
    try:
        return BroadcastPhase(record["phase"])
    except ValueError:
        return BroadcastPhase.STOPPED if record.get("stop") else BroadcastPhase.RUNNING


def wanted_start(spec: JsonObject, status: JsonObject, new_id: str) -> tuple[str, JsonObject]:
    """The id of the run after a start, and the `spec.broadcast` that makes it so."""
    run = present_run(spec, status)
    run_id = run.id if run.on_air and run.id else new_id
    wanted: JsonObject = spec.get("broadcast") or {}
    if run_id == run.id and wanted.get("state") == BroadcastState.RUNNING:
        return run_id, wanted
    return run_id, {"state": BroadcastState.RUNNING.value, "id": run_id}


def wanted_stop(spec: JsonObject, status: JsonObject) -> JsonObject:
    """The `spec.broadcast` that ends what is on air, or is to come; unchanged if nothing is.

    It names the run as `stopped`, so a run that a source trigger started is stopped as well; `id` goes, so
    that only Running is a new run. Where a source is to start a run it names that: one that a client has
    asked for meanwhile is over by its `id` having gone.
    """
    run = present_run(spec, status)
    wanted: JsonObject = spec.get("broadcast") or {}
    pending = status.get("triggerRun")
    if not run.on_air and not pending and wanted.get("state") != BroadcastState.RUNNING:
        return wanted
    stopped: JsonObject = {"state": BroadcastState.STOPPED.value}
    run_id = pending or run.id or wanted.get("id")
    return {**stopped, "stopped": run_id} if run_id else stopped


def status_record(collection_id: str, project_id: str, run: Run, now: dt.datetime) -> JsonObject:
    """The broadcast status of `interface.md`, with the error that a run ended by."""
    record: JsonObject = {"collectionId": collection_id, "projectId": project_id}
    if run.id:
        record["broadcastId"] = run.id
    start, stop = _time(run.record.get("start")), _time(run.record.get("stop"))
    if start:
        record["duration"] = max(0, round(((stop or now) - start).total_seconds() * 1000))
        record["start"] = _text(start)
    if stop:
        record["stop"] = _text(stop)
    record["phase"] = run.phase.wire
    record |= run.error
    if region := run.record.get("region"):
        record["region"] = next((r.wire for r in Region if r.value == region), Region.unspecified())
    if datacenter := run.record.get("datacenter"):
        record["datacenter"] = datacenter
    return record


def _time(text: Any) -> dt.datetime | None:
    try:
        time = dt.datetime.fromisoformat(str(text)) if text else None
    except ValueError:
        return None
    return time.replace(tzinfo=dt.UTC) if time and time.tzinfo is None else time


def _text(time: dt.datetime) -> str:
    return time.astimezone(dt.UTC).isoformat().replace("+00:00", "Z")
