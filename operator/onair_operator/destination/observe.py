"""Gathers one destination, whether its project exists, and whether it is as its rules say."""

from __future__ import annotations

from dataclasses import dataclass

from onair_crds.contract.program import DestinationState
from onair_crds.resources.destination import Destination
from onair_operator.cluster.watched_kinds import BY_PROJECT, DESTINATION, POD, PROJECT
from onair_operator.cluster.world import World
from onair_operator.destination.stored_destination import read_destination


@dataclass(frozen=True)
class ObservedDestination:
    destination: Destination
    project_exists: bool
    invalid: str | None = None
    """The rules that it breaks, as one may that was stored by an older version: it has no spec then."""
    reported: DestinationState | None = None
    """Of one that breaks a rule: what an encoder that delivers to it all the same reports."""


def observe(world: World, name: str) -> ObservedDestination | None:
    """The destination; None if there is none."""
    entry = world.store.entry(DESTINATION, name)
    if entry is None:
        return None
    project = str(entry.spec.get("projectId"))
    exists = world.store.entry(PROJECT, project) is not None
    stored = read_destination(entry)
    if stored.invalid is None or not stored.wanted:
        return ObservedDestination(stored.destination, exists, stored.invalid)
    reported = _reported(world, project, stored.destination)
    return ObservedDestination(stored.destination, exists, stored.invalid, reported)


def _reported(world: World, project: str, destination: Destination) -> DestinationState | None:
    pods = [entry.uid for entry in world.store.select(POD, BY_PROJECT, project)]
    wanted = (destination.name, destination.generation)
    for each in world.fleet.views(pods).values() if pods else ():
        states = each.status.destinations if each.status and not each.over else []
        if found := next((state for state in states if (state.id, state.generation) == wanted), None):
            return found
    return None
