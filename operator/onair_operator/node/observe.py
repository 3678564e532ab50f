"""Gathers the evidence whether one node is dead: its Lease, those of the others, what on it is silent."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass

from onair_crds.contract.labels import PROJECT_LABEL
from onair_crds.shapes import Document
from onair_operator.cluster.ingest_pods import LeavingPod
from onair_operator.cluster.watched_kinds import POD
from onair_operator.cluster.world import World
from onair_operator.encoder.observed import PodView

SILENT_AFTER_S = 5.0
"""An encoder without a status for this long makes its node suspect."""


@dataclass(frozen=True)
class ObservedNode:
    name: str
    silent: bool
    """Whether an encoder on it has fallen silent, or an ingest pod that is to be deleted."""
    dead: bool
    """Whether it was found dead before."""
    unchanged_s: Mapping[str, float]
    """For how long the Lease of each node of the cluster has been the same."""
    projects: frozenset[str] = frozenset()
    """The projects that have an encoder anywhere."""
    leaving: tuple[LeavingPod, ...] = ()
    """Ingest pods on it that are to be deleted, and whose gateways cannot be reached."""


def observe(world: World, name: str) -> ObservedNode:
    """The node as known now, even one that is no node of the cluster any more."""
    pods = (entry.labels.get(PROJECT_LABEL) for entry in world.store.entries(POD))
    return ObservedNode(
        name=name,
        silent=name in suspects(world),
        dead=name in world.nodes.dead,
        unchanged_s=world.nodes.unchanged_s,
        projects=frozenset(project for project in pods if project),
        leaving=tuple(each for each in world.ingest_pods.leaving if each.node == name),
    )


def suspects(world: World, now: dt.datetime | None = None) -> set[str]:
    """Nodes that are worth a look.

    That is for encoders that are silent, or have no address yet, and for ingest pods that are to be deleted.
    """
    before = (now or dt.datetime.now(dt.UTC)) - dt.timedelta(seconds=SILENT_AFTER_S)
    starting = (PodView.of(e.document) for e in world.store.entries(POD) if _without_address(e.document))
    waiting = {pod.node for pod in starting if pod.node and not pod.gone and pod.created < before}
    leaving = {each.node for each in world.ingest_pods.leaving}
    return world.fleet.silent_nodes(SILENT_AFTER_S) | waiting | leaving


def _without_address(pod: Document) -> bool:
    return not pod.get("status", {}).get("podIP")
