"""Ids of parents can neither change nor go."""

from __future__ import annotations

import copy

import pytest
from tests.support.manifests import GOOD, LAYOUT, NamespaceApi, merged

from onair_crds.shapes import Document

IMMUTABLE = [
    ("Project", {"collectionId": "other"}, "spec.collectionId"),
    ("Destination", {"projectId": "other"}, "spec.projectId"),
    ("Source", {"collectionId": "other"}, "spec.collectionId"),
    ("Layout", {"projectId": "other"}, "spec.projectId"),
    ("Collection", {"owner": {"serviceId": "other"}}, "spec.owner.serviceId"),
    ("Collection", {"owner": {"serviceUserId": "other"}}, "spec.owner.serviceUserId"),
]


@pytest.mark.parametrize(("kind", "change", "field"), IMMUTABLE, ids=[f"{k}-{f}" for k, _, f in IMMUTABLE])
def test_an_immutable_id_can_neither_change_nor_go(
    server: NamespaceApi, kind: str, change: Document, field: str
) -> None:
    created = server.create(kind, GOOD[kind]).json()
    changed = server.put(kind, merged(created, {"spec": change}))
    assert changed.status_code == 422
    assert any(
        c["field"] == field and "cannot be changed" in c["message"]
        for c in changed.json()["details"]["causes"]
    )
    removed = copy.deepcopy(created)
    *parents, last = field.split(".")
    node = removed
    for parent in parents:
        node = node[parent]
    del node[last]
    gone = server.put(kind, removed)
    assert gone.status_code == 422
    assert any(c["field"] == field and "Required" in c["message"] for c in gone.json()["details"]["causes"])


def test_a_layouts_collection_is_set_once(server: NamespaceApi) -> None:
    layout = server.create("Layout", LAYOUT).json()
    layout["spec"]["collectionId"] = "sunday"
    layout = server.put("Layout", layout).raise_for_status().json()
    for change in ({"collectionId": "monday"}, {}):
        spec = {k: v for k, v in layout["spec"].items() if k != "collectionId"} | change
        response = server.put("Layout", {**layout, "spec": spec})
        assert response.status_code == 422
        assert "collectionId cannot be changed or removed once set" in response.text
