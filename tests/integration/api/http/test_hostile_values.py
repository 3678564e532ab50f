"""Values of any kind in any field: refused or stored, never a failure."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.support.facade import User
from tests.support.rpc import url_of

HOSTILE: list[Any] = [
    None, True, 0, -1, 2**63, 2**64, 10**40, 1.5, "", "x", "\0", "\u202e", "9" * 1000, [], [[]], {},
    {"a": None}, {"external": 5}, {"scene": []}, {"": ""}, {"__proto__": {}}, ["x"] * 1000,
    {"video": {"width": "1280x"}},
]  # fmt: skip


FIELDS = {
    "project": [
        "metadata",
        "rendering",
        "encoding",
        "composition",
        "maxDuration",
        "webrtc",
        "location",
        "updateMask",
    ],
    "destination": ["metadata", "address", "enabled", "timeout", "updateMask"],
}


@pytest.mark.parametrize("field", FIELDS["project"])
def test_hostile_values_never_fail_a_project(anna: User, field: str) -> None:
    show = anna.project()
    for value in HOSTILE:
        for method, path in (("PATCH", show.path), ("POST", f"/collection/{show.collection}/project")):
            response = anna.call(method, path, {field: value})
            assert response.status_code in (200, 400), (value, response.text)
    assert show.get()["project"]["projectId"] == show.id


@pytest.mark.parametrize("field", FIELDS["destination"])
def test_hostile_values_never_fail_a_destination(anna: User, field: str) -> None:
    show = anna.project()
    path = f"{show.path}/destination"
    known = f"{path}/{show.destination()['destinationId']}"
    for value in HOSTILE:
        for method, at in (("PATCH", known), ("POST", path)):
            response = anna.call(method, at, {field: value})
            assert response.status_code in (200, 400), (value, response.text)


@pytest.mark.parametrize(("kind", "field"), [(kind, field) for kind in FIELDS for field in FIELDS[kind]])
def test_hostile_values_never_fail_over_rpc(anna: User, kind: str, field: str) -> None:
    """As JSON, as binary messages cannot hold most of them."""
    show = anna.project()
    ids = {"collectionId": show.collection, "projectId": show.id}
    known = {**ids, "destinationId": show.destination()["destinationId"]}
    service = f"live.v21.{kind.title()}Service"
    headers = {**anna.headers, "content-type": "application/json"}
    for value in HOSTILE:
        for verb, at in (("Update", known), ("Create", ids)):
            body = json.dumps({**at, field: value})
            url = url_of(service, f"{verb}{kind.title()}")
            response = anna.facade.http.post(url, content=body, headers=headers)
            assert response.status_code in (200, 400), (value, response.text)
    assert show.get()["project"]["projectId"] == show.id
