"""Destinations over HTTP and where their secrets are."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from tests.support.destinations import KEY, RTMP, STORAGE
from tests.support.facade import Show, StoredResources, User
from tests.support.tokens import invite, seen_by
from tests.support.waiting import wait_for

from onair_crds.shapes import JsonObject


@pytest.mark.parametrize(
    "body",
    [
        {"address": RTMP},
        {"address": {"rtmpPush": {"url": "rtmps://media.example/live"}}, "enabled": False, "timeout": 100},
        {"address": {"rtmpPush": {"url": "srt://media.example:9000?streamid=x"}}, "timeout": "30000"},
        {"address": {"srtPush": {"url": "srt://media.example:9000"}}, "metadata": {"a": [1]}},
        {"address": {"rtcPlatform": {"appId": "a", "channelId": "b", "userId": "c"}}},
        {"address": STORAGE},
    ],
)
def test_every_kind_of_destination_comes_back_as_it_was_sent(show: Show, body: JsonObject) -> None:
    created = show.destination(**body)
    assert created == {
        "collectionId": show.collection,
        "projectId": show.id,
        "destinationId": created["destinationId"],
        "metadata": body.get("metadata", {}),
        "address": body["address"],
        "enabled": body.get("enabled", True),
        "timeout": int(body.get("timeout", 5000)),
        "connect": "CONNECT_STATE_DISCONNECTED",
    }
    path = f"{show.path}/destination/{created['destinationId']}"
    assert show.user.ok("GET", path) == {"destination": created}
    assert show.get()["project"]["destinations"] == [created]


@pytest.mark.parametrize(
    ("body", "fields"),
    [
        ({}, {"address"}),
        ({"address": {}}, {"address"}),
        ({"address": None}, {"address"}),
        ({"address": {**RTMP, "srtPush": {"url": "srt://a.example:9000"}}}, {"address"}),
        ({"address": {"rtmpPush": {}}}, {"address.rtmpPush.url"}),
        ({"address": {"rtmpPush": {"key": KEY}}}, {"address.rtmpPush.url"}),
        ({"address": {"rtmpPush": {"url": "http://a.example", "key": KEY}}}, {"address.rtmpPush.url"}),
        ({"address": {"rtmpPush": {"url": "rtmp://user:pass@a.example/live"}}}, {"address.rtmpPush.url"}),
        ({"address": {"rtmpPush": {"url": "rtmp://a b/", "key": KEY}}}, {"address.rtmpPush.url"}),
        ({"address": {"rtmpPush": {"url": "rtmp://2130706433/live", "key": KEY}}}, {"address.rtmpPush.url"}),
        ({"address": {"srtPush": {"url": "srt://redis.onair-system.svc:9000"}}}, {"address.srtPush.url"}),
        ({"address": {"rtmpPush": {"url": "rtmp://a.example", "key": 5}}}, {"address.rtmpPush.key"}),
        ({"address": {"rtmpPush": {"url": "rtmp://a.example", "key": "k" * 4097}}}, {"address.rtmpPush.key"}),
        (
            {"address": {"rtcPlatform": {"appId": "a"}}},
            {"address.rtcPlatform.channelId", "address.rtcPlatform.userId"},
        ),
        (
            {"address": {"objectStorage": {"region": "r", "bucket": "b"}}},
            {
                "address.objectStorage.accessKey",
                "address.objectStorage.secretKey",
                "address.objectStorage.packaging",
            },
        ),
        ({"address": RTMP, "timeout": 99}, {"timeout"}),
        ({"address": RTMP, "timeout": 30_001}, {"timeout"}),
        ({"address": RTMP, "enabled": "yes", "timeout": []}, {"enabled", "timeout"}),
    ],
)
def test_a_wrong_destination_leaves_nothing_behind(
    show: Show, resources: StoredResources, body: JsonObject, fields: set[str]
) -> None:
    before = {s["metadata"]["name"] for s in resources.secrets()}
    response = show.user.call("POST", f"{show.path}/destination", body)
    assert (response.status_code, response.json()["code"]) == (400, 3), response.text
    assert {v["field"] for v in response.json()["details"][0]["fieldViolations"]} == fields
    assert KEY not in response.text
    assert {s["metadata"]["name"] for s in resources.secrets()} == before
    assert show.get()["project"]["destinations"] == []


def test_an_enabled_destination_is_deleted_by_force_alone(show: Show, resources: StoredResources) -> None:
    created = show.destination()
    path = f"{show.path}/destination/{created['destinationId']}"
    response = show.user.call("DELETE", path)
    assert (response.status_code, response.json()["code"]) == (400, 9)
    assert show.user.ok("DELETE", path + "?force=true") == {"broadcastUpdated": False}
    assert show.user.call("GET", path).status_code == 404
    assert not resources.exists("destinations", created["destinationId"])
    disabled = show.destination(enabled=False)["destinationId"]
    assert show.user.ok("DELETE", f"{show.path}/destination/{disabled}") == {"broadcastUpdated": False}


def test_a_running_broadcast_is_told_of(show: Show, resources: StoredResources) -> None:
    created = show.destination()
    path = f"{show.path}/destination/{created['destinationId']}"
    off = show.destination(enabled=False)
    assert show.user.ok("PATCH", path, {"timeout": 600})["broadcastUpdated"] is False
    show.start()
    assert show.user.ok("PATCH", path, {"timeout": 700})["broadcastUpdated"] is True
    assert show.user.ok("PATCH", path, {"timeout": 700})["broadcastUpdated"] is False
    assert show.user.ok("PATCH", path, {"metadata": 1})["broadcastUpdated"] is False
    off_path = f"{show.path}/destination/{off['destinationId']}"
    assert show.user.ok("PATCH", off_path, {"timeout": 700})["broadcastUpdated"] is False
    assert show.user.ok("PATCH", off_path, {"enabled": True})["broadcastUpdated"] is True
    assert show.user.ok("DELETE", path + "?force=1") == {"broadcastUpdated": True}


def test_a_read_says_how_the_delivery_goes(show: Show, resources: StoredResources) -> None:
    created = show.destination()
    path = f"{show.path}/destination/{created['destinationId']}"
    status = {"connect": "Connected", "since": "2026-01-02T03:04:05Z"}

    def write(**more: str) -> None:
        patch = {"status": {**status, **more}}
        resources.patch("destinations", created["destinationId"], patch, "status")

    def read() -> JsonObject:
        found: JsonObject = show.user.ok("GET", path)["destination"]
        return {name: found[name] for name in ("connect", "since", "lastError") if name in found}

    write()
    connected = {"connect": "CONNECT_STATE_CONNECTED", "since": status["since"]}
    wait_for(lambda: read() == connected, "the connection is seen")
    write(connect="Disconnected", lastError="203.0.113.9:1935 refused the connection")
    lost = {**connected, "connect": "CONNECT_STATE_DISCONNECTED"}
    lost["lastError"] = "203.0.113.9:1935 refused the connection"
    wait_for(lambda: read() == lost, "the loss is seen")
    (listed,) = seen_by(invite(show, "VIEWER"), show).get()["project"]["destinations"]
    assert (listed["connect"], "lastError" in listed) == (lost["connect"], False), "an error names a server"
    assert show.user.ok("PATCH", path, read())["destination"]["since"] == status["since"], (
        "no request sets it"
    )


def test_a_destination_belongs_to_its_project_alone(
    show: Show, anna: User, sign_in: Callable[..., User]
) -> None:
    created = show.destination()["destinationId"]
    sibling = anna.project(show.collection)
    ben = sign_in()
    for user, path in ((anna, sibling.path), (ben, show.path), (ben, ben.project().path)):
        for method in ("GET", "PATCH", "DELETE"):
            response = user.call(method, f"{path}/destination/{created}", {})
            assert (response.status_code, response.json()["code"]) == (404, 5)
