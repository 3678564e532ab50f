"""All that plans are made from: what rooms may observe."""

from __future__ import annotations

from dataclasses import dataclass, field

from onair_crds.kube.store import Store
from onair_operator.cluster.node_leases import NodeLeases
from onair_operator.encoder.fleet import Fleet
from onair_operator.room.providers import RtcProviders


@dataclass(frozen=True)
class Refusal:
    """The API server does not let an encoder pod be created, as by a quota or an admission policy."""

    pod: str
    message: str
    final: bool = False
    """The namespace is being deleted."""


@dataclass(frozen=True)
class World:
    store: Store
    fleet: Fleet
    nodes: NodeLeases
    rtc_providers: RtcProviders
    refusals: dict[str, Refusal] = field(default_factory=dict)
    """The last one of each project whose present encoder has no pod for it, by the project's name."""
