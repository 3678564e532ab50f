"""Gathers one source, its collection, its key, and what gateways say of its streams."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from onair_crds.contract.ingest import FoundAddresses, secret_name
from onair_crds.kube.store import Store
from onair_crds.resources.collection import Collection
from onair_crds.resources.source import Source
from onair_operator.cluster.source_streams import key_stream, streams_of
from onair_operator.cluster.watched_kinds import BY_SHOWN, COLLECTION, PROJECT, SECRET, SOURCE
from onair_operator.cluster.world import World
from onair_operator.ingest.observed import GatewayView, Sighting
from onair_operator.source.stored_source import read_source


@dataclass(frozen=True)
class ObservedSource:
    source: Source
    collection: Collection | None
    """Only its metadata."""
    invalid: str | None = None
    """The rules that it breaks, as one may that was stored by an older version."""
    has_secret: bool = True
    """Whether there is a Secret where its stream key belongs."""
    key_stream: str | None = None
    """The stream of its key."""
    gateways: tuple[GatewayView, ...] = ()
    sightings: tuple[Sighting, ...] = ()
    """Of all streams that may be its own."""
    regions: frozenset[str] = frozenset()
    """Of encoders that show it."""
    found: FoundAddresses | None = None
    """Where publishers reach ingest; None if that is not looked for, or not known yet."""

    def gateway(self, name: str | None) -> GatewayView | None:
        return next((each for each in self.gateways if each.name == name), None)


def observe(world: World, name: str) -> ObservedSource | None:
    """The source and its surroundings; None if there is no such source."""
    store, streams = world.store, world.gateways.streams
    entry = store.entry(SOURCE, name)
    if entry is None:
        return None
    source, invalid = read_source(entry)
    collection = store.entry(COLLECTION, source.spec.collection_id)
    found = (sighting for stream in streams_of(store, entry) for sighting in streams.sightings(stream))
    return ObservedSource(
        source=source,
        invalid=invalid,
        collection=collection.head(Collection) if collection else None,
        has_secret=store.entry(SECRET, secret_name(name)) is not None,
        key_stream=key_stream(store, name),
        gateways=streams.gateways,
        regions=frozenset(_regions(store, name)),
        found=world.ingest_addresses.found,
        sightings=tuple(sorted(found, key=lambda each: (each.state.stream, each.gateway.name))),
    )


def _regions(store: Store, source: str) -> Iterator[str]:
    for project in store.select(PROJECT, BY_SHOWN, source):
        if region := (project.status.get("broadcast") or {}).get("region"):
            yield region
