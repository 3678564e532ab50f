"""Gathers one collection."""

from __future__ import annotations

from dataclasses import dataclass

from onair_crds.resources.collection import Collection
from onair_operator.cluster.watched_kinds import COLLECTION
from onair_operator.cluster.world import World


@dataclass(frozen=True)
class ObservedCollection:
    collection: Collection


def observe(world: World, name: str) -> ObservedCollection | None:
    """The collection; None if there is none."""
    entry = world.store.entry(COLLECTION, name)
    return ObservedCollection(entry.model(Collection)) if entry else None
