"""Gathers one gateway and the sources that any gateway is to pull."""

from __future__ import annotations

from dataclasses import dataclass

from onair_crds.contract.ingest_gateway import Pulls
from onair_crds.resources.source import Source
from onair_operator.cluster.watched_kinds import PULLED, SOURCE
from onair_operator.cluster.world import World
from onair_operator.ingest.observed import GatewayView


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
    pulled = tuple(each.model(Source) for each in world.store.select(SOURCE, PULLED))
    return ObservedGateway(name, gateways, pulled, world.gateways.wanted_pulls(name))
