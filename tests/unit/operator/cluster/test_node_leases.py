"""A node's Lease is judged by its changes, whatever the clock of the kubelet that writes it."""

from __future__ import annotations

import asyncio
import datetime as dt
from typing import Any, cast

import pytest
from tests.support.waiting import until
from tests.support.worlds import NOW

from onair_crds.contract.times import format_time
from onair_crds.kube.apis import Api
from onair_crds.kube.errors import ApiUnavailable
from onair_crds.shapes import Document
from onair_operator.cluster.node_leases import LONGEST_GAP_S, NodeLeases
from onair_operator.node.plan import STALE_AFTER_S, dead_nodes

RENEWAL_S = 10.0


class RenewedNodeLeases:
    """Nodes that renew their Leases every 10 s of a clock that is off by some seconds, until they die."""

    def __init__(self, **clocks_s: float) -> None:
        self.clocks_s = clocks_s
        self.now_s = 1000.0
        self.died: dict[str, float] = {}
        self.available = True
        self.lists = 0

    def clock(self) -> float:
        return self.now_s

    async def list(self, _: Api, __: str) -> Document:
        self.lists += 1
        if not self.available:
            raise ApiUnavailable(503, "ServiceUnavailable", "away")
        return {"items": [self._lease(node) for node in self.clocks_s]}

    def _lease(self, node: str) -> Document:
        alive_s = min(self.now_s, self.died.get(node, self.now_s))
        renewed_s = alive_s - alive_s % RENEWAL_S + self.clocks_s[node]
        renewed = format_time(NOW + dt.timedelta(seconds=renewed_s), "microseconds")
        return {"metadata": {"name": node}, "spec": {"renewTime": renewed}}


async def dead_after(kubelets: RenewedNodeLeases, leases: NodeLeases, for_s: float) -> float | None:
    """Looks every second for so long; gives when the first node was found dead, in seconds from now."""
    began = kubelets.now_s
    while kubelets.now_s < began + for_s:
        await leases.look()
        if dead_nodes(leases.unchanged_s):
            return kubelets.now_s - began
        kubelets.now_s += 1.0
    return None


@pytest.mark.parametrize("clock_s", [-3600.0, -5.0, 0.0, 5.0, 3600.0])
async def test_no_clock_makes_a_node_dead_or_keeps_it_alive(clock_s: float) -> None:
    kubelets = RenewedNodeLeases(a=clock_s, b=clock_s, c=-clock_s)
    leases = NodeLeases(cast(Any, kubelets), kubelets.clock)
    assert await dead_after(kubelets, leases, 120.0) is None
    kubelets.died["c"] = kubelets.now_s + 5.0
    found_s = await dead_after(kubelets, leases, 60.0)
    assert found_s is not None
    assert found_s - 5.0 <= STALE_AFTER_S + 1.0
    assert dead_nodes(leases.unchanged_s) == {"c"}


async def test_a_node_that_renews_just_in_time_is_never_dead_to_who_looks_seldom() -> None:
    kubelets = RenewedNodeLeases(a=0.0, b=0.0)
    leases = NodeLeases(cast(Any, kubelets), kubelets.clock)
    for _ in range(60):
        await leases.look()
        assert dead_nodes(leases.unchanged_s) == frozenset()
        kubelets.now_s += LONGEST_GAP_S - 0.1


async def test_an_api_server_that_was_unavailable_makes_no_node_dead() -> None:
    kubelets = RenewedNodeLeases(a=0.0, b=0.0, c=0.0)
    leases = NodeLeases(cast(Any, kubelets), kubelets.clock)
    await leases.look()
    kubelets.available = False
    kubelets.died = dict.fromkeys("abc", kubelets.now_s)
    assert await dead_after(kubelets, leases, 60.0) is None
    kubelets.available = True
    # Two have renewed by now, and the third is about to.
    kubelets.died = {"c": kubelets.died["c"]}
    assert await dead_after(kubelets, leases, 8.0) is None


async def test_a_node_without_a_lease_is_nothing_that_is_known() -> None:
    kubelets = RenewedNodeLeases(a=0.0, b=0.0)
    leases = NodeLeases(cast(Any, kubelets), kubelets.clock)
    kubelets.died["b"] = kubelets.now_s
    assert await dead_after(kubelets, leases, 30.0) is not None
    del kubelets.clocks_s["b"]
    await leases.look()
    assert list(leases.unchanged_s) == ["a"]


async def test_nobody_looks_while_there_is_no_encoder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("onair_operator.cluster.node_leases.INTERVAL_S", 0.0)
    kubelets = RenewedNodeLeases(a=0.0)
    needed = False
    watching = asyncio.create_task(NodeLeases(cast(Any, kubelets), kubelets.clock).watch(lambda: needed))
    for _ in range(20):
        await asyncio.sleep(0)
    assert kubelets.lists == 0
    needed = True
    await until(lambda: kubelets.lists, "Leases are listed", 10)
    watching.cancel()
