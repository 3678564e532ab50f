"""A gateway is observed with all sources that are pulled; one that cannot be read stops no other."""

from __future__ import annotations

from typing import Any, cast

from tests.support.documents import document

from onair_crds.kube.store import Store
from onair_operator.cluster.watched_kinds import KINDS
from onair_operator.cluster.world import World
from onair_operator.gateway.observe import observe
from onair_operator.ingest.gateways import Gateways
from onair_operator.settings import GatewaySettings


def test_a_gateway_is_observed_with_the_sources_that_are_pulled() -> None:
    store = Store(KINDS)
    for name, address in {
        "relay": {"rtmpPull": {"url": "rtmp://media.example/live/a"}},
        "camera": {"rtmpPush": {}},
        "broken": {"rtmpPull": {"url": "ftp://media.example/live/a"}},
    }.items():
        store.update("Source", document(name, {"collectionId": "sunday", "address": address}))
    gateways = Gateways([GatewaySettings(name="ingest-0", url="http://ingest-0:8448")])
    world = World(store, *cast(Any, (None, None, None)), gateways)
    observed = observe(world, "ingest-0")
    assert observed
    assert [each.name for each in observed.pulled] == ["relay"]
    assert observed.wanted is None
    assert observe(world, "ingest-9") is None
