"""Gathers one source and its collection."""

from __future__ import annotations

from dataclasses import dataclass

from onair_crds.resources.collection import Collection
from onair_crds.resources.source import Source
from onair_operator.cluster.watched_kinds import COLLECTION, SOURCE
from onair_operator.cluster.world import World


@dataclass(frozen=True)
class ObservedSource:
    source: Source
    collection: Collection | None


def observe(world: World, name: str) -> ObservedSource | None:
    """The source and its surroundings; None where there is no such source."""
    entry = world.store.entry(SOURCE, name)
    if entry is None:
        return None
    source = entry.model(Source)
    collection = world.store.entry(COLLECTION, source.spec.collection_id)
    return ObservedSource(source, collection.model(Collection) if collection else None)
