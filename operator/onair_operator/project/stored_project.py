"""Reads a stored project, also one that breaks rules, as one of an older version may. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from pydantic import ValidationError

from onair_crds.kube.store import Entry
from onair_crds.resources.enums import BroadcastState
from onair_crds.resources.project import BroadcastStatus, BroadcastWanted, Project, ProjectSpec, ProjectStatus
from onair_crds.shapes import Document
from onair_operator.cluster.watched_kinds import COLLECTION
from onair_operator.specs.broken_rules import broken_rules

UNKNOWN = "unknown"


@dataclass(frozen=True)
class StoredProject:
    project: Project
    invalid: str | None = None
    """The rules that it breaks; parts of its spec are of an earlier version then, or defaults."""
    defaulted: bool = False
    """Defaults are in the place of what breaks rules: this process has seen no version that was valid."""


def read_project(entry: Entry, valid: ProjectSpec | None) -> StoredProject:
    """The project as it is stored; of one that breaks rules, as it was last, but for what is wanted on air.

    Args:
        valid: the spec as it was valid last.

    Raises:
        ValidationError: the status cannot be read, so that nothing is known of its runs.
    """
    try:
        return StoredProject(entry.model(Project))
    except ValidationError as error:
        invalid = broken_rules(error)
    status = ProjectStatus.model_validate(entry.status)
    given = {name: value for name, value in entry.spec.items() if _follows_rules(name, value)}
    spec = ProjectSpec.model_validate({"collectionId": _collection(entry.metadata), **given})
    if "broadcast" not in given:
        spec = spec.model_copy(
            update={"broadcast": valid.broadcast if valid else _as_it_is(status.broadcast)}
        )
    if valid:
        spec = valid.model_copy(update={"broadcast": spec.broadcast})
    project = Project(metadata=entry.metadata, spec=spec, status=status)
    return StoredProject(project, invalid, defaulted=valid is None)


def _follows_rules(field: str, value: object) -> bool:
    try:
        ProjectSpec.model_validate({"collectionId": UNKNOWN, field: value})
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
