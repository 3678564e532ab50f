"""Which nodes are worth a look: of encoders that are silent or get no address, of ingest pods that leave."""

from __future__ import annotations

import datetime as dt
from types import SimpleNamespace
from typing import Any, cast

import pytest
from tests.support.worlds import NOW

from onair_crds.contract.times import format_time
from onair_crds.kube.store import Store
from onair_operator.cluster.ingest_pods import LeavingPod
from onair_operator.cluster.watched_kinds import KINDS
from onair_operator.cluster.world import World
from onair_operator.node.observe import SILENT_AFTER_S, observe, suspects


@pytest.mark.parametrize(
    ("node", "ip", "age_s", "suspect"),
    [
        ("node-a", None, SILENT_AFTER_S + 1, True),
        ("node-a", None, SILENT_AFTER_S - 1, False),
        ("node-a", "10.0.0.9", SILENT_AFTER_S + 1, False),
        (None, None, SILENT_AFTER_S + 1, False),
    ],
    ids=["no address", "just placed", "has an address", "not placed"],
)
def test_a_node_on_which_a_pod_gets_no_address_is_a_suspect(
    node: str | None, ip: str | None, age_s: float, suspect: bool
) -> None:
    store = Store(KINDS)
    created = format_time(NOW - dt.timedelta(seconds=age_s))
    metadata = {"name": "p", "uid": "u", "resourceVersion": "1", "creationTimestamp": created}
    document = {"metadata": metadata, "spec": {"nodeName": node}, "status": {"podIP": ip}}
    store.update("Pod", document)
    fleet = SimpleNamespace(silent_nodes=lambda _: {"node-b"})
    world = World(store, cast(Any, fleet), cast(Any, None), cast(Any, None))
    assert suspects(world, NOW) == {"node-b", *(["node-a"] if suspect else [])}


def test_a_node_that_is_to_end_an_ingest_pod_is_a_suspect() -> None:
    fleet = SimpleNamespace(silent_nodes=lambda _: set())
    nodes = SimpleNamespace(dead=frozenset(), unchanged_s={})
    world = World(Store(KINDS), cast(Any, fleet), cast(Any, nodes), cast(Any, None))
    world.ingest_pods.leaving = here, _ = (
        LeavingPod("onair-ingest-0", "u", "node-a"),
        LeavingPod("onair-ingest-1", "v", "node-b"),
    )
    assert suspects(world, NOW) == {"node-a", "node-b"}
    observed = observe(world, "node-a")
    assert (observed.silent, observed.leaving) == (True, (here,))
