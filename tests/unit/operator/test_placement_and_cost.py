"""Regions by distance, affinity weights, requests of a pod."""

from __future__ import annotations

import pytest
from tests.support.worlds import SETTINGS, project

from onair_crds.resources.project import Location
from onair_encoder.paths import AUTHORITIES
from onair_operator.cost import cost_of
from onair_operator.placement import distance_km, node_affinity, regions_by_distance
from onair_operator.pods import encoder_pod

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


@pytest.mark.parametrize(
    ("rendering", "cores"),
    [
        ({}, 0.75),
        ({"video": {"width": 1920, "height": 1080}}, 1.4375),
        ({"video": {"framerate": 60}}, 1.3),
        ({"complexity": 2}, 1.06),
        ({"complexity": -2}, 0.552),
        ({"quality": "High"}, 1.08),
    ],
)
def test_requests_follow_size_framerate_and_complexity(rendering: dict[str, object], cores: float) -> None:
    spec = project(rendering=rendering).spec
    assert cost_of(spec.rendering, SETTINGS.encoder.cost).cores == pytest.approx(cores, abs=0.01)


def test_authorities_of_the_installation_are_the_encoders_alone() -> None:
    settings = SETTINGS.model_copy(
        update={"encoder": SETTINGS.encoder.model_copy(update={"authorities_config_map": "ours"})}
    )
    spec = encoder_pod(project(), "run", 2, settings)["spec"]
    mounts = {c["name"]: {m["name"]: m["mountPath"] for m in c["volumeMounts"]} for c in spec["containers"]}
    assert mounts["encoder"]["authorities"] == str(AUTHORITIES)
    assert "authorities" not in mounts["browser"]
    (volume,) = [v for v in spec["volumes"] if v["name"] == "authorities"]
    assert volume["configMap"] == {"name": "ours", "optional": True}
    assert "authorities" not in str(encoder_pod(project(), "run", 2, SETTINGS))


def test_a_dead_name_server_costs_a_second() -> None:
    options = encoder_pod(project(), "run", 2, SETTINGS)["spec"]["dnsConfig"]["options"]
    assert {each["name"]: each["value"] for each in options} == {"timeout": "1", "attempts": "5"}


def test_an_encoder_pod_has_no_rights() -> None:
    pod = encoder_pod(project(), "run", 2, SETTINGS)
    spec = pod["spec"]
    assert pod["metadata"]["name"] == "show-run-2"
    assert spec["automountServiceAccountToken"] is False
    assert spec["securityContext"]["runAsNonRoot"] is True
    users = set()
    for container in spec["containers"]:
        security = container["securityContext"]
        assert security["readOnlyRootFilesystem"] is True
        assert security["allowPrivilegeEscalation"] is False
        assert security["capabilities"] == {"drop": ["ALL"]}
        assert set(container["resources"]["requests"]) == {"cpu", "memory"}
        users.add(security["runAsUser"])
    assert len(users) == 2
    assert 0 not in users
    mounts = {c["name"]: {m["name"] for m in c["volumeMounts"]} for c in spec["containers"]}
    assert {"program", "identity"} & mounts["browser"] == set()
