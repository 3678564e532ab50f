"""Gathers one destination, and whether its project exists."""

from __future__ import annotations

from dataclasses import dataclass

from onair_crds.resources.destination import Destination
from onair_operator.cluster.watched_kinds import DESTINATION, PROJECT
from onair_operator.cluster.world import World


@dataclass(frozen=True)
class ObservedDestination:
    destination: Destination
    project_exists: bool


def observe(world: World, name: str) -> ObservedDestination | None:
    """The destination; None where there is none."""
    entry = world.store.entry(DESTINATION, name)
    if entry is None:
        return None
    destination = entry.model(Destination)
    return ObservedDestination(
        destination, world.store.entry(PROJECT, destination.spec.project_id) is not None
    )
