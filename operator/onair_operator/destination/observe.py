"""Gathers one destination, whether its project exists, and whether it is as its rules say."""

from __future__ import annotations

from dataclasses import dataclass

from pydantic import ValidationError

from onair_crds.kube.store import Entry
from onair_crds.resources.destination import Destination, DestinationStatus
from onair_operator.cluster.watched_kinds import DESTINATION, PROJECT
from onair_operator.cluster.world import World
from onair_operator.specs.broken_rules import broken_rules


@dataclass(frozen=True)
class ObservedDestination:
    destination: Destination
    project_exists: bool
    invalid: str | None = None
    """The rules that it breaks, as one may that was stored by an older version: it has no spec then."""


def observe(world: World, name: str) -> ObservedDestination | None:
    """The destination; None if there is none."""
    entry = world.store.entry(DESTINATION, name)
    if entry is None:
        return None
    project_exists = world.store.entry(PROJECT, str(entry.spec.get("projectId"))) is not None
    try:
        return ObservedDestination(entry.model(Destination), project_exists)
    except ValidationError as error:
        head = entry.head(Destination).model_copy(update={"status": _status(entry)})
        return ObservedDestination(head, project_exists, broken_rules(error))


def _status(entry: Entry) -> DestinationStatus:
    try:
        return DestinationStatus.model_validate(entry.status)
    except ValidationError:
        return DestinationStatus()
