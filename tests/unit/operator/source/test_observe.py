"""A source is observed with the regions that it is on air in."""

from __future__ import annotations

from typing import Any, cast

from tests.support.documents import document

from onair_crds.kube.store import Store
from onair_operator.cluster.watched_kinds import KINDS
from onair_operator.cluster.world import World
from onair_operator.source.observe import observe


def test_the_regions_are_those_of_encoders_that_show_it() -> None:
    store = Store(KINDS)
    store.update("Source", document("relay", {"collectionId": "sunday", "address": {"rtmpPush": {}}}))
    for name, source, broadcast in (
        ("on-air", "relay", {"region": "us-east-1"}),
        ("ready", "relay", None),
        ("nowhere", "relay", {}),
        ("without", "camera", {"region": "eu-central-1"}),
    ):
        project = document(name, {"collectionId": "sunday", "sources": [{"sourceId": source}]})
        store.update("Project", {**project, "status": {"broadcast": broadcast}})
    observed = observe(World(store, *cast(Any, (None, None, None))), "relay")
    assert observed
    assert observed.regions == {"us-east-1"}
