"""Stream keys of sources: assigned, kept, replaced, and shown to nobody else."""

from __future__ import annotations

import base64
from typing import Any

import pytest
from tests.support.facade import FacadeThread, Show, StoredResources, User
from tests.support.source_requests import create, key_secrets, path_of
from tests.support.tokens import fields_of


def test_the_key_stays_when_the_protocol_changes(show: Show, resources: StoredResources) -> None:
    source = create(show.user, show.collection)
    path = path_of(source)
    response = show.user.ok("PATCH", path, {"updateMask": "address.srtPush", "address": {"srtPush": {}}})
    assert response["broadcastUpdated"] is False
    assert response["source"]["address"]["srtPush"]["streamId"].endswith(source["address"]["rtmpPush"]["key"])
    assert set(response["source"]["address"]) == {"srtPush"}
    back = show.user.ok("PATCH", path, {"address": {"rtmpPush": {}}})["source"]
    assert back == source
    assert len(key_secrets(resources, source)) == 1


def test_a_pulled_source_that_becomes_pushed_gets_a_key(show: Show) -> None:
    source = create(show.user, show.collection, address={"rtmpPull": {"url": "rtmp://camera.example/1"}})
    changed = show.user.ok("PATCH", path_of(source), {"address": {"rtmpPush": {}}})["source"]
    assert changed["address"]["rtmpPush"]["key"]


@pytest.mark.parametrize("mask", ["address.rtmpPush.key", "metadata, ADDRESS.rtmp_push.key"])
def test_a_mask_that_names_the_key_has_it_replaced(show: Show, resources: StoredResources, mask: str) -> None:
    source = create(show.user, show.collection, metadata="before")
    body = {"updateMask": mask, "metadata": "after", "address": {"rtmpPush": {}}}
    changed = show.user.ok("PATCH", path_of(source), body)["source"]
    before, push = source["address"]["rtmpPush"], changed["address"]["rtmpPush"]
    assert push["key"] != before["key"]
    assert push == {**before, "key": push["key"], "url": f"{push['baseUrl']}/{push['key']}"}
    assert changed["metadata"] == ("after" if "metadata" in mask else "before")
    assert show.user.ok("GET", path_of(source))["source"] == changed
    (secret,) = key_secrets(resources, source)
    assert base64.b64decode(secret["data"]["streamKey"]).decode() == push["key"]


def test_nobody_chooses_a_key(show: Show) -> None:
    source = create(show.user, show.collection)
    body = {"updateMask": "address.rtmpPush.key", "address": {"rtmpPush": {"key": "mine"}}}
    assert fields_of(show.user.call("PATCH", path_of(source), body)) == {"address.rtmpPush.key"}
    assert show.user.ok("GET", path_of(source))["source"] == source


def test_a_source_of_kubectls_is_shown_without_a_key(show: Show, resources: StoredResources) -> None:
    spec = {"collectionId": show.collection, "address": {"rtmpPush": {}}}
    name = f"camera-{show.id}"
    resources.apply("Source", "sources", name, spec)
    push = show.user.ok("GET", f"/collection/{show.collection}/source/{name}")["source"]["address"][
        "rtmpPush"
    ]
    assert set(push) == {"enabled", "baseUrl"}


def test_another_replica_knows_a_source_and_its_key_at_once(show: Show, second_facade: FacadeThread) -> None:
    source = create(show.user, show.collection)
    assert User(second_facade, show.user.token).ok("GET", path_of(source)) == {"source": source}


def test_no_stream_key_is_in_any_log_line(show: Show, recorded_logs: Any) -> None:
    source = create(show.user, show.collection)
    key = source["address"]["rtmpPush"]["key"]
    show.user.ok("PATCH", path_of(source), {"address": {"srtPush": {}}})
    show.user.ok("DELETE", path_of(source))
    assert source["sourceId"] in recorded_logs.getvalue()
    assert key not in recorded_logs.getvalue()
