"""Sources become their collection's."""

from __future__ import annotations

from typing import Any

import pytest
from tests.support.worlds import NOW, SETTINGS, collection

from onair_crds.resources.collection import Collection
from onair_crds.resources.source import Source
from onair_operator.cluster.actions import Adopt
from onair_operator.source.observe import ObservedSource
from onair_operator.source.plan import make_plan

DELETING = {"deletionTimestamp": "2026-05-01T12:00:00Z"}


def source(**metadata: Any) -> Source:
    return Source.model_validate(
        {
            "metadata": {"name": "camera", "uid": "uid-camera", "resourceVersion": "1", **metadata},
            "spec": {"collectionId": "sunday", "address": {"rtmpPush": {}}},
        }
    )


def test_a_source_is_given_to_its_collection() -> None:
    observed = ObservedSource(source(), collection())
    assert make_plan(observed, NOW, SETTINGS) == [Adopt(observed.source, collection())]


@pytest.mark.parametrize(
    ("its_source", "its_collection"),
    [
        (source(ownerReferences=[{"uid": "uid-sunday"}]), collection()),
        (source(), None),
        (source(), collection(**DELETING)),
        (source(**DELETING), collection()),
    ],
    ids=["owned", "without a collection", "collection under deletion", "source under deletion"],
)
def test_a_source_is_left_alone(its_source: Source, its_collection: Collection | None) -> None:
    assert make_plan(ObservedSource(its_source, its_collection), NOW, SETTINGS) == []
