"""Regions by distance, and the affinity that prefers the nearest."""

from __future__ import annotations

import pytest
from tests.support.worlds import SETTINGS

from onair_crds.resources.project import Location
from onair_operator.encoder.placement import distance_km, node_affinity, regions_by_distance

EU, US = "eu-central-1", "us-east-1"


@pytest.mark.parametrize(
    ("location", "ranked"),
    [
        (Location(latitude=48.1, longitude=11.6), [EU, US]),
        (Location(latitude=40.7, longitude=-74.0), [US, EU]),
        (Location(latitude=64.1, longitude=-21.9), [EU, US]),
        (Location(latitude=-90, longitude=0), [US, EU]),
        (Location(latitude=21.0, longitude=170.0), [US, EU]),
        (None, [US, EU]),
    ],
    ids=["Munich", "New York", "Reykjavik", "south pole", "across the date line", "nowhere"],
)
def test_the_nearest_region_comes_first(location: Location | None, ranked: list[str]) -> None:
    assert [r.name for r in regions_by_distance(location, SETTINGS.regions)] == ranked


def test_distance_is_a_great_circle() -> None:
    frankfurt = SETTINGS.regions[1]
    assert distance_km(Location(latitude=39.0, longitude=-77.5), frankfurt) == pytest.approx(6540, rel=0.01)


def test_affinity_requires_a_region_and_prefers_the_nearest() -> None:
    affinity = node_affinity(regions_by_distance(Location(latitude=48, longitude=11), SETTINGS.regions))
    rules = affinity["nodeAffinity"]
    required = rules["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]
    assert required[0]["matchExpressions"][0]["values"] == [EU, US]
    preferred = rules["preferredDuringSchedulingIgnoredDuringExecution"]
    assert [(p["weight"], p["preference"]["matchExpressions"][0]["values"]) for p in preferred] == [
        (100, [EU]),
        (50, [US]),
    ]
    assert node_affinity([]) == {}


def test_a_dead_node_is_avoided_in_every_region() -> None:
    rules = node_affinity(SETTINGS.regions, frozenset({"node-b", "node-a"}))["nodeAffinity"]
    (term,) = rules["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]
    assert term["matchExpressions"][0]["values"] == [US, EU]
    assert term["matchFields"] == [
        {"key": "metadata.name", "operator": "NotIn", "values": ["node-a"]},
        {"key": "metadata.name", "operator": "NotIn", "values": ["node-b"]},
    ]
    anywhere = node_affinity([], frozenset({"node-a"}))["nodeAffinity"]
    (term,) = anywhere["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]
    assert "matchExpressions" not in term
