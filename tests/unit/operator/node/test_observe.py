"""Which nodes are worth a look: those of silent encoders, and of encoders that get no address."""

from __future__ import annotations

import datetime as dt
from types import SimpleNamespace
from typing import Any, cast

import pytest
from tests.support.worlds import NOW

from onair_crds.contract.times import format_time
from onair_crds.kube.store import Store
from onair_operator.cluster.watched_kinds import KINDS
from onair_operator.cluster.world import World
from onair_operator.node.observe import SILENT_AFTER_S, suspects


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
