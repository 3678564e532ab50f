"""All that plans are made from: what rooms may observe."""

from __future__ import annotations

from dataclasses import dataclass

from onair_crds.kube.store import Store
from onair_operator.cluster.node_leases import NodeLeases
from onair_operator.encoder.fleet import Fleet
from onair_operator.room.providers import RtcProviders


@dataclass(frozen=True)
class World:
    store: Store
    fleet: Fleet
    nodes: NodeLeases
    rtc_providers: RtcProviders
