"""The present run of a show, from wanted and observed state together. Pure.

The operator acts a moment after a start or a stop is written. Until then the
status shows what was asked for: WAITING after a start, STOPPING after a stop.
"""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass, field
from typing import Any

from onair_crds.resources.enums import BroadcastPhase, BroadcastState, Region
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


def present_run(spec: JsonObject, status: JsonObject) -> Run:
    """The run that clients are shown."""
    wanted: JsonObject = spec.get("broadcast") or {}
    current: JsonObject | None = status.get("broadcast")
    running = wanted.get("state") == BroadcastState.RUNNING
    wanted_id = wanted.get("id")
    seen = {record.get("id") for record in (current, status.get("previous")) if record}
    if running and wanted_id and wanted_id not in seen:
        return Run(wanted_id, BroadcastPhase.WAITING)
    if current is None:
        return Run(None, BroadcastPhase.WAITING if running else BroadcastPhase.NOT_RUNNING)
    phase = BroadcastPhase(current["phase"])
    if phase.active and not running and wanted_id == current["id"]:
        phase = BroadcastPhase.STOPPING
    return Run(current["id"], phase, current)


def wanted_start(spec: JsonObject, status: JsonObject, new_id: str) -> tuple[str, JsonObject]:
    """The id of the run after a start, and the `spec.broadcast` that makes it so."""
    run = present_run(spec, status)
    run_id = run.id if run.on_air and run.id else new_id
    wanted: JsonObject = spec.get("broadcast") or {}
    if run_id == run.id and wanted.get("state") == BroadcastState.RUNNING:
        return run_id, wanted
    return run_id, {"state": BroadcastState.RUNNING.value, "id": run_id}


def wanted_stop(spec: JsonObject, status: JsonObject) -> JsonObject:
    """The `spec.broadcast` that ends what is on air; unchanged where nothing is.

    It names the run, so a run that a source trigger started is stopped as well.
    """
    run = present_run(spec, status)
    wanted: JsonObject = spec.get("broadcast") or {}
    if not run.on_air and wanted.get("state") != BroadcastState.RUNNING:
        return wanted
    stopped: JsonObject = {"state": BroadcastState.STOPPED.value}
    run_id = run.id or wanted.get("id")
    return {**stopped, "id": run_id} if run_id else stopped


def status_record(collection_id: str, project_id: str, run: Run, now: dt.datetime) -> JsonObject:
    """The broadcast status of `interface.md`."""
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
