"""A gateway is observed with the sources that it pulls."""

from __future__ import annotations

from typing import Any, cast

import pytest
from pydantic import SecretStr
from tests.support.documents import document

from onair_crds.contract.ingest_gateway import Pull
from onair_crds.kube.store import Store
from onair_crds.shapes import Document
from onair_operator.cluster.watched_kinds import KINDS
from onair_operator.cluster.world import World
from onair_operator.gateway.observe import observe
from onair_operator.ingest.gateways import Gateways
from onair_operator.settings import GatewaySettings

URL = "rtmp://media.example/live/a"
PULL = {"rtmpPull": {"url": URL}}


def assigned(name: str, address: Document, gateway: str = "ingest-0", **metadata: str) -> Document:
    made = document(name, {"collectionId": "sunday", "address": address}, **metadata)
    return {**made, "status": {"gateway": gateway}}


@pytest.fixture
def world() -> World:
    gateways = Gateways(
        [GatewaySettings(name=name, url=f"http://{name}") for name in ("ingest-0", "ingest-1")]
    )
    return World(Store(KINDS), cast(Any, None), cast(Any, None), cast(Any, None), gateways)


def test_a_gateway_is_observed_with_the_sources_that_it_pulls(world: World) -> None:
    for source in (
        assigned("relay", PULL),
        assigned("other", PULL, "ingest-1"),
        assigned("camera", {"rtmpPush": {}}),
        assigned("ended", PULL, deletionTimestamp="2026-05-01T12:00:00Z"),
    ):
        world.store.update("Source", source)
    observed = observe(world, "ingest-0")
    assert observed
    assert observed.pulled == {"pull-relay": Pull(url=SecretStr(URL))}
    assert observed.wanted is None
    assert observe(world, "ingest-9") is None


def test_what_has_not_changed_is_the_same_object_so_that_thousands_are_compared_at_once(world: World) -> None:
    world.store.update("Source", assigned("relay", PULL))
    first, second = observe(world, "ingest-0"), observe(world, "ingest-0")
    assert first
    assert second
    assert first.pulled["pull-relay"] is second.pulled["pull-relay"]
