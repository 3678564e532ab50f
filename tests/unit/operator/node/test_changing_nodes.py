"""Only nodes of which something may have to be done are looked at, and all are judged by one pass."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from types import SimpleNamespace
from typing import Any, cast

import pytest

from onair_crds.kube.store import Store
from onair_operator.cluster.ingest_pods import LeavingPod
from onair_operator.cluster.watched_kinds import KINDS
from onair_operator.cluster.world import World
from onair_operator.node.changing_nodes import changing_nodes

FRESH, STALE = 9.9, 12.6
NODES = 20


def world_of(
    *,
    silent: set[str],
    stale: AbstractSet[str] = frozenset(),
    dead: AbstractSet[str] = frozenset(),
    leaving: str | None = None,
) -> World:
    names = [f"node-{number}" for number in range(NODES)]
    unchanged_s = {name: STALE if name in stale else FRESH for name in names}
    nodes = SimpleNamespace(dead=frozenset(dead), unchanged_s=unchanged_s)
    fleet = SimpleNamespace(passes=0)

    def silent_nodes(_: float) -> set[str]:
        fleet.passes += 1
        return silent

    fleet.silent_nodes = silent_nodes
    world = World(Store(KINDS), cast(Any, fleet), cast(Any, nodes), cast(Any, None))
    if leaving:
        world.ingest_pods.leaving = (LeavingPod("onair-ingest-0", "u", leaving),)
    return world


A = "node-1"


@pytest.mark.parametrize(
    ("world", "changing"),
    [
        (world_of(silent={A}), False),
        (world_of(silent={A}, stale={A}), True),
        (world_of(silent=set(), stale={A}), False),
        (world_of(silent={A}, stale={A}, dead={A}), False),
        (world_of(silent=set(), stale={A}, dead={A}), False),
        (world_of(silent=set(), dead={A}), True),
        (world_of(silent={A}, stale={A}, dead={A}, leaving=A), True),
        (world_of(silent=set(), leaving=A), False),
        (world_of(silent=set(), stale={A}, leaving=A), True),
    ],
    ids=[
        "silent, but alive",
        "silent and stale",
        "stale, but its encoders report",
        "dead already",
        "dead already, and its encoders report",
        "back again",
        "dead, and is to end an ingest pod",
        "is to end an ingest pod, and may",
        "is to end an ingest pod, and is found dead",
    ],
)
def test_a_node_has_a_look_if_that_may_change_something(world: World, changing: bool) -> None:
    assert changing_nodes(world) == ({A} if changing else set())


def test_silent_encoders_are_gone_through_once_however_many_nodes_are_silent() -> None:
    world = world_of(silent={f"node-{number}" for number in range(NODES)})
    assert changing_nodes(world) == set()
    assert cast(Any, world.fleet).passes == 1
