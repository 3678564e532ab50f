"""Gathers one gateway and the sources that any gateway is to pull."""

from __future__ import annotations

from dataclasses import dataclass

import structlog
from pydantic import ValidationError

from onair_crds.contract.ingest_gateway import Pulls
from onair_crds.kube.store import Entry
from onair_crds.resources.source import Source
from onair_operator.cluster.watched_kinds import PULLED, SOURCE
from onair_operator.cluster.world import World
from onair_operator.ingest.observed import GatewayView

log = structlog.get_logger()


@dataclass(frozen=True)
class ObservedGateway:
    name: str
    gateways: tuple[GatewayView, ...]
    """All of them."""
    pulled: tuple[Source, ...] = ()
    """All sources that are pulled, by whichever."""
    wanted: Pulls | None = None
    """What it is to pull by now; None where it has not been told."""


def observe(world: World, name: str) -> ObservedGateway | None:
    """The gateway; None where the settings have none of this name."""
    gateways = world.gateways.streams.gateways
    if name not in {each.name for each in gateways}:
        return None
    read = (_source(entry) for entry in world.store.select(SOURCE, PULLED))
    pulled = tuple(source for source in read if source)
    return ObservedGateway(name, gateways, pulled, world.gateways.wanted_pulls(name))


def _source(entry: Entry) -> Source | None:
    """None for one that was stored under rules of before, so that others are pulled without it."""
    try:
        return entry.model(Source)
    except ValidationError:
        log.warning("source.invalid", source=entry.name)
        return None
