"""Gathers one stream that gateways report, and the source that it belongs to."""

from __future__ import annotations

from dataclasses import dataclass

from onair_crds.resources.source import Source
from onair_operator.cluster.source_streams import source_of
from onair_operator.cluster.watched_kinds import SOURCE
from onair_operator.cluster.world import World
from onair_operator.ingest.observed import Sighting
from onair_operator.source.stored_source import read_source


@dataclass(frozen=True)
class ObservedStream:
    stream: str
    source: Source | None
    """The source whose key, or whose pull, it is; None if there is none of that name either."""
    sightings: tuple[Sighting, ...]


def observe(world: World, stream: str) -> ObservedStream:
    """The stream, wherever it is."""
    name = source_of(world.store, stream)
    entry = world.store.entry(SOURCE, name) if name else None
    source = read_source(entry)[0] if entry else None
    return ObservedStream(stream, source, world.gateways.streams.sightings(stream))
