"""The beginning of a run: whether one is wanted, its id, its first record. Pure."""

from __future__ import annotations

import datetime as dt
import hashlib

from onair_crds.contract.runs import was_used, with_used
from onair_crds.contract.times import format_time
from onair_crds.resources.enums import BroadcastPhase, BroadcastState
from onair_crds.resources.project import BroadcastStatus, BroadcastWanted, Project, ProjectStatus
from onair_operator.encoder.naming import pod_name
from onair_operator.project.observed import ObservedProject


def may_be_on_air(observed: ObservedProject) -> bool:
    """Whether the resources as they stand could be a show."""
    collection = observed.collection
    exists = collection is not None and not collection.deleting
    return exists and not observed.project.deleting and observed.invalid is None


def wanted_on_air(observed: ObservedProject) -> bool:
    """Whether the resources as they stand ask for a show, and it could be one."""
    return observed.project.spec.broadcast.state is BroadcastState.RUNNING and may_be_on_air(observed)


def is_new_run(wanted: BroadcastWanted, status: ProjectStatus) -> bool:
    """Whether Running means a run that has not been yet (`architecture.md`: a run is its id)."""
    current = status.broadcast
    if wanted.id is not None:
        seen = {run.id for run in (current, status.previous) if run}
        return wanted.id not in seen and not was_used(wanted.id, status.used or ())
    if current is None or current.stop_observed:
        return True
    return wanted.stopped == current.id or is_called_off(wanted, status)


def is_called_off(wanted: BroadcastWanted, status: ProjectStatus) -> bool:
    """Whether a stop names the run that a source is to start."""
    return status.trigger_run is not None and wanted.stopped == status.trigger_run


def stop_is_seen(project: Project) -> bool:
    """Whether the spec asks for a stop, so that Running without an id is a new run from then on."""
    wanted = project.spec.broadcast
    return wanted.state is BroadcastState.STOPPED or is_called_off(wanted, project.status)


def generated_id(project_uid: str, generation: int, last_id: str | None) -> str:
    """An id for a run that was wanted without one: the same world gives the same id."""
    seed = f"{project_uid}/{generation}/{last_id or ''}"
    return "r" + hashlib.sha256(seed.encode()).hexdigest()[:19]


def next_id(observed: ObservedProject) -> str:
    """The id of a run that begins now without one of the spec's."""
    project, current = observed.project, observed.broadcast
    return generated_id(project.uid, project.generation, current.id if current else None)


def new_run(
    observed: ObservedProject, now: dt.datetime, started_by: str | None, run_id: str | None
) -> BroadcastStatus:
    """The first record of the run that the spec wants, or that a source has started.

    Args:
        run_id: of a source's start that has waited.
    """
    project = observed.project
    broadcast_id = (run_id if started_by else project.spec.broadcast.id) or next_id(observed)
    return BroadcastStatus(
        id=broadcast_id,
        epoch=1,
        phase=BroadcastPhase.WAITING,
        requested=format_time(now),
        claimed=format_time(now),
        pod=pod_name(project.name, broadcast_id, 1),
        started_by=started_by,
    )


def used_with_called_off(project: Project) -> list[str] | None:
    """Fingerprints of the ids that are over once a stop has called a start off; None if none has.

    What a client is shown is then the run before it again, and not this as one that ended.
    """
    stopped = project.spec.broadcast.stopped
    if stopped is None or not is_called_off(project.spec.broadcast, project.status):
        return None
    return with_used(project.status.used or [], stopped)


def used_runs(observed: ObservedProject) -> list[str]:
    """Fingerprints of the ids that are over once another run begins."""
    project, current = observed.project, observed.broadcast
    used = project.status.used or []
    for over in (project.spec.broadcast.stopped, current.id if current else None):
        used = with_used(used, over) if over else used
    return used
