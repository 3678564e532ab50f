"""Reads a stored project, also one that breaks rules, as one of an older version may. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from onair_crds.kube.store import Entry
from onair_crds.resources.base import SpecModel
from onair_crds.resources.enums import BroadcastState, RoomPhase
from onair_crds.resources.project import BroadcastStatus, BroadcastWanted, Project, ProjectSpec, ProjectStatus
from onair_crds.resources.room import RoomStatus
from onair_crds.shapes import Document
from onair_operator.cluster.watched_kinds import COLLECTION
from onair_operator.specs.broken_rules import broken_rules

UNKNOWN = "unknown"
RECORDS = ("broadcast", "draining", "used")
"""Parts of a status without which nothing is known of a project's runs."""
A_ROOM = {"opening": 0, "phase": RoomPhase.OPENING, "since": "1970-01-01T00:00:00Z"}
"""In the place of what cannot be read: its server is asked whether it is there, and closes it in the end."""


@dataclass(frozen=True)
class StoredProject:
    project: Project
    invalid: str | None = None
    """The rules that it breaks; parts of its spec are of an earlier version then, or defaults."""
    defaulted: bool = False
    """Defaults are in the place of what breaks rules: this process has seen no version that was valid."""


def read_project(entry: Entry, valid: ProjectSpec | None) -> StoredProject:
    """The project as it is stored; of one that breaks rules, as it was last, but for what is wanted on air.

    Of a status there is what can be read, as of a newer operator.

    Args:
        valid: the spec as it was valid last.

    Raises:
        ValidationError: the records of its runs cannot be read: they would be lost with the next status.
    """
    try:
        return StoredProject(entry.model(Project))
    except ValidationError:
        status = _status(entry.status)
    try:
        return StoredProject(Project.model_validate({**entry.document, "status": status}))
    except ValidationError as error:
        invalid = broken_rules(error)
    given = _readable(ProjectSpec, entry.spec, {"collectionId": UNKNOWN})
    spec = ProjectSpec.model_validate({"collectionId": _collection(entry.metadata), **given})
    if "broadcast" not in given:
        spec = spec.model_copy(
            update={"broadcast": valid.broadcast if valid else _as_it_is(status.broadcast)}
        )
    if valid:
        spec = valid.model_copy(update={"broadcast": spec.broadcast})
    project = Project(metadata=entry.metadata, spec=spec, status=status)
    return StoredProject(project, invalid, defaulted=valid is None)


def _status(stored: Document) -> ProjectStatus:
    readable = _readable(ProjectStatus, stored, {})
    if isinstance(room := stored.get("room"), dict):
        readable["room"] = A_ROOM | _readable(RoomStatus, room, A_ROOM)
    return ProjectStatus.model_validate(readable | {name: stored[name] for name in RECORDS if name in stored})


def _readable(model: type[SpecModel], stored: Document, required: Document) -> Document:
    """The fields of a stored part that follow the rules of this version, each by itself."""
    return {name: value for name, value in stored.items() if _follows(model, {**required, name: value})}


def _follows(model: type[SpecModel], value: Any) -> bool:
    try:
        model.model_validate(value)
    except ValidationError:
        return False
    return True


def _collection(metadata: Document) -> str:
    """The collection that has adopted the project."""
    owners = metadata.get("ownerReferences") or []
    return next((str(owner["name"]) for owner in owners if owner.get("kind") == COLLECTION), UNKNOWN)


def _as_it_is(run: BroadcastStatus | None) -> BroadcastWanted:
    """What keeps a run that is on air, and begins none."""
    if run is None or not run.phase.active or (run.started_by and not run.running_observed):
        return BroadcastWanted()
    return BroadcastWanted(state=BroadcastState.RUNNING, id=run.id)
