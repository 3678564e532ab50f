"""Destinations over HTTP and where their secrets are."""

from __future__ import annotations

import base64
from collections.abc import Callable
from typing import Any

import pytest
from tests.support.destinations import secret_of, secrets_of
from tests.support.facade import Cluster, Facade, Show, User, wait_for
from tests.support.tokens import invite, seen_by

from onair_crds.shapes import JsonObject

KEY = "stream-key-5f2b91"
RTMP: JsonObject = {"rtmpPush": {"url": "rtmp://media.example/live", "key": KEY}}
STORAGE: JsonObject = {
    "objectStorage": {
        "region": "eu-central-1",
        "bucket": "shows",
        "prefix": "a/",
        "accessKey": "AKIA-5f2b92",
        "secretKey": "secret-5f2b93",
        "token": "token-5f2b94",
        "tokenDuration": 3_600_000,
        "acl": "OBJECT_ACL_PUBLIC_READ",
        "endpoint": "https://s3.example",
        "packaging": {
            "hls": {
                "lifecycle": {"live": {"playlistCount": 6, "fileCount": 12}},
                "segmentDuration": 4000,
            }
        },
    }
}


@pytest.fixture
def show(anna: User) -> Show:
    return anna.project()


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


def test_secrets_are_in_an_immutable_secret_and_nowhere_else(show: Show, cluster: Cluster) -> None:
    created = show.destination(address=STORAGE)
    (secret,) = secrets_of(cluster, created)
    assert secret["type"] == "onair.dev/credentials"
    assert secret["immutable"] is True
    assert {k: base64.b64decode(v).decode() for k, v in secret["data"].items()} == {
        "accessKey": "AKIA-5f2b92",
        "secretKey": "secret-5f2b93",
        "token": "token-5f2b94",
    }
    stored = str(cluster.get("destinations", created["destinationId"]))
    assert "5f2b9" not in stored


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
    show: Show, cluster: Cluster, body: JsonObject, fields: set[str]
) -> None:
    before = {s["metadata"]["name"] for s in cluster.secrets()}
    response = show.user.call("POST", f"{show.path}/destination", body)
    assert (response.status_code, response.json()["code"]) == (400, 3), response.text
    assert {v["field"] for v in response.json()["details"][0]["fieldViolations"]} == fields
    assert KEY not in response.text
    assert {s["metadata"]["name"] for s in cluster.secrets()} == before
    assert show.get()["project"]["destinations"] == []


def test_address_and_key_change_together(show: Show, cluster: Cluster) -> None:
    created = show.destination(address=RTMP)
    path = f"{show.path}/destination/{created['destinationId']}"
    new = {"rtmpPush": {"url": "rtmp://new.example/live", "key": "key-two"}}
    response = show.user.ok("PATCH", path, {"updateMask": "address", "address": new})
    assert response["destination"]["address"] == new
    secret = secret_of(cluster, created)
    assert base64.b64decode(secret["data"]["key"]).decode() == "key-two"
    assert show.user.ok("GET", path)["destination"]["address"] == new


@pytest.mark.parametrize(
    ("body", "address"),
    [
        ({"updateMask": "enabled", "enabled": False}, RTMP),
        (
            {"address": {"rtmpPush": {"url": "rtmp://b.example/live"}}},
            {"rtmpPush": {"url": "rtmp://b.example/live", "key": KEY}},
        ),
        (
            {"updateMask": "address.rtmpPush.url", "address": {"rtmpPush": {"url": "rtmp://b.example/x"}}},
            {"rtmpPush": {"url": "rtmp://b.example/x", "key": KEY}},
        ),
        (
            {"updateMask": "address.rtmpPush", "address": {"rtmpPush": {"url": "rtmp://b.example/x"}}},
            {"rtmpPush": {"url": "rtmp://b.example/x"}},
        ),
        ({"updateMask": "address.rtmpPush.key"}, {"rtmpPush": {"url": "rtmp://media.example/live"}}),
        (
            {"updateMask": "address.srtPush.url", "address": {"srtPush": {"url": "srt://b.example:1"}}},
            {"srtPush": {"url": "srt://b.example:1"}},
        ),
        ({"address": {"srtPush": {"url": "srt://b.example:1"}}}, {"srtPush": {"url": "srt://b.example:1"}}),
    ],
)
def test_a_key_stays_unless_the_mask_names_it(show: Show, body: JsonObject, address: JsonObject) -> None:
    created = show.destination(address=RTMP)
    path = f"{show.path}/destination/{created['destinationId']}"
    assert show.user.ok("PATCH", path, body)["destination"]["address"] == address


def test_writing_back_what_was_read_makes_no_new_secret(show: Show, cluster: Cluster) -> None:
    created = show.destination(address=STORAGE, metadata={"a": 1})
    path = f"{show.path}/destination/{created['destinationId']}"
    before = secrets_of(cluster, created)
    version = cluster.get("destinations", created["destinationId"])["metadata"]["resourceVersion"]
    assert show.user.ok("PATCH", path, created)["destination"] == created
    assert secrets_of(cluster, created) == before
    assert cluster.get("destinations", created["destinationId"])["metadata"]["resourceVersion"] == version


def test_one_storage_secret_can_change_alone(show: Show, cluster: Cluster) -> None:
    created = show.destination(address=STORAGE)
    path = f"{show.path}/destination/{created['destinationId']}"
    body = {"address": {"objectStorage": {"secretKey": "changed"}}}
    response = show.user.ok("PATCH", path, body)["destination"]["address"]
    assert response == {"objectStorage": {**STORAGE["objectStorage"], "secretKey": "changed"}}


def test_a_refused_update_takes_its_secret_back(show: Show, cluster: Cluster) -> None:
    created = show.destination(address=RTMP)
    path = f"{show.path}/destination/{created['destinationId']}"
    body = {"address": {"rtmpPush": {"url": "rtmp://a b/", "key": "another"}}}
    response = show.user.call("PATCH", path, body)
    assert response.status_code == 400
    assert len(secrets_of(cluster, created)) == 1
    assert show.user.ok("GET", path)["destination"] == created


def test_an_enabled_destination_is_deleted_by_force_alone(show: Show, cluster: Cluster) -> None:
    created = show.destination()
    path = f"{show.path}/destination/{created['destinationId']}"
    response = show.user.call("DELETE", path)
    assert (response.status_code, response.json()["code"]) == (400, 9)
    assert show.user.ok("DELETE", path + "?force=true") == {"broadcastUpdated": False}
    assert show.user.call("GET", path).status_code == 404
    assert not cluster.exists("destinations", created["destinationId"])
    disabled = show.destination(enabled=False)["destinationId"]
    assert show.user.ok("DELETE", f"{show.path}/destination/{disabled}") == {"broadcastUpdated": False}


def test_a_running_broadcast_is_told_of(show: Show, cluster: Cluster) -> None:
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


def test_a_read_says_how_the_delivery_goes(show: Show, cluster: Cluster) -> None:
    created = show.destination()
    path = f"{show.path}/destination/{created['destinationId']}"
    status = {"connect": "Connected", "since": "2026-01-02T03:04:05Z"}

    def write(**more: str) -> None:
        patch = {"status": {**status, **more}}
        cluster.patch("destinations", created["destinationId"], patch, "status")

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


def test_a_secret_of_the_users_own_is_followed(show: Show, cluster: Cluster) -> None:
    """What kubectl made: a Secret that can change, and one of a type that shows may not use."""
    names = {"mine": "onair.dev/credentials", "forbidden": "Opaque"}
    for name, type_ in names.items():
        cluster.add_secret(cluster.shows, f"{name}-{show.id}", type_, {"k": f"value of {name}"})
        spec = {
            "projectId": show.id,
            "address": {
                "rtmpPush": {
                    "url": "rtmp://a.example/live",
                    "keySecretRef": {"name": f"{name}-{show.id}", "key": "k"},
                }
            },
        }
        cluster.apply("Destination", "destinations", f"{name}-{show.id}", spec)

    def key_of(name: str) -> Any:
        path = f"{show.path}/destination/{name}-{show.id}"
        return show.user.ok("GET", path)["destination"]["address"]["rtmpPush"].get("key")

    wait_for(lambda: key_of("mine") == "value of mine", "the key is shown")
    assert key_of("forbidden") is None
    changed = {"data": {"k": base64.b64encode(b"changed").decode()}}
    cluster.admin.patch(
        f"/api/v1/namespaces/{cluster.shows}/secrets/mine-{show.id}",
        json=changed,
        headers={"Content-Type": "application/merge-patch+json"},
    ).raise_for_status()
    wait_for(lambda: key_of("mine") == "changed", "the change is seen")


def test_a_secret_that_is_not_there_is_asked_for_once(
    show: Show, cluster: Cluster, facade: Facade, monkeypatch: pytest.MonkeyPatch
) -> None:
    reference = {"name": f"missing-{show.id}", "key": "k"}
    address = {"rtmpPush": {"url": "rtmp://a.example/live", "keySecretRef": reference}}
    spec = {"projectId": show.id, "address": address}
    for number in range(3):
        cluster.apply("Destination", "destinations", f"keyless-{number}-{show.id}", spec)
    wait_for(lambda: len(show.get()["project"]["destinations"]) == 3, "the destinations are known")
    show.get()
    asked: list[str] = []
    client = facade.services.cluster.client
    get = client.get

    async def counted(api: Any, namespace: str | None, name: str) -> Any:
        asked.append(name)
        return await get(api, namespace, name)

    monkeypatch.setattr(client, "get", counted)
    assert all("key" not in each["address"]["rtmpPush"] for each in show.get()["project"]["destinations"])
    assert asked == []
