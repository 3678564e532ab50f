"""Gathers one gateway and what it is to pull: the sources that are assigned to it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from pydantic import SecretStr

from onair_crds.contract.ingest_gateway import Pull, Pulls, stream_of_pull
from onair_crds.kube.store import Entry
from onair_operator.cluster.watched_kinds import BY_GATEWAY, PULLED, SOURCE
from onair_operator.cluster.world import World


@dataclass(frozen=True)
class ObservedGateway:
    name: str
    pulled: Mapping[str, Pull] = field(default_factory=dict)
    """By stream: the sources that are assigned to it."""
    wanted: Pulls | None = None
    """What it is to pull by now; None if nobody has said so."""


def observe(world: World, name: str) -> ObservedGateway | None:
    """The gateway; None if the settings have none of this name."""
    gateways = world.gateways
    if name not in {each.name for each in gateways.streams.gateways}:
        return None
    assigned = world.store.select(SOURCE, BY_GATEWAY, name)
    return ObservedGateway(name, dict(_pulls(assigned)), gateways.wanted_pulls(name))


def _pulls(assigned: list[Entry]) -> Iterator[tuple[str, Pull]]:
    for entry in assigned:
        if not entry.deleting and (PULLED, ()) in entry.index_keys:
            yield stream_of_pull(entry.name), _pull(entry)


def _pull(entry: Entry) -> Pull:
    """What a source is pulled from: one object of each version, as thousands are compared at a time."""
    pull: Pull | None = entry.records.get(Pull)
    if pull is None:
        url = entry.spec["address"]["rtmpPull"].get("url")
        pull = entry.records[Pull] = Pull(url=SecretStr(str(url)))
    return pull
