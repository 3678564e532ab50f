"""Gathers one destination, whether its project exists, and whether it is as its rules say."""

from __future__ import annotations

from dataclasses import dataclass

from onair_crds.contract.program import DestinationState
from onair_crds.resources.destination import Destination
from onair_operator.cluster.watched_kinds import BY_PROJECT, DESTINATION, POD, PROJECT
from onair_operator.cluster.world import World
from onair_operator.destination.stored_destination import read_destination
from onair_operator.encoder.observed import EncoderView


@dataclass(frozen=True)
class ObservedDestination:
    destination: Destination
    project_exists: bool
    invalid: str | None = None
    """The rules that it breaks, as one may that was stored by an older version: it has no spec then."""
    reported: DestinationState | None = None
    """Of one that breaks a rule: what an encoder that delivers to it all the same reports."""
    awaited: bool = False
    """Likewise: whether its project's encoder is yet to report, as where the operator was restarted."""


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
    encoder = _present_encoder(world, project)
    if encoder is None:
        return ObservedDestination(stored.destination, exists, stored.invalid)
    view = world.fleet.views([encoder]).get(encoder)
    if view is None or view.awaited:
        return ObservedDestination(stored.destination, exists, stored.invalid, awaited=True)
    reported = _reported(view, stored.destination)
    return ObservedDestination(stored.destination, exists, stored.invalid, reported)


def _present_encoder(world: World, project: str) -> str | None:
    """The uid of the pod that is the project's encoder, while there is one."""
    entry = world.store.entry(PROJECT, project)
    encoder = (entry.status.get("broadcast") or {}).get("encoder") if entry else None
    pods = {pod.uid for pod in world.store.select(POD, BY_PROJECT, project)}
    return str(encoder) if encoder in pods else None


def _reported(view: EncoderView, destination: Destination) -> DestinationState | None:
    wanted = (destination.name, destination.generation)
    states = view.status.destinations if view.status and not view.over else []
    return next((state for state in states if (state.id, state.generation) == wanted), None)
