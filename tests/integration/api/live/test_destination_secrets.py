"""Where the secrets of destinations are, and what becomes of them."""

from __future__ import annotations

import base64
from typing import Any

import pytest
from tests.support.destinations import KEY, RTMP, STORAGE, secret_of, secrets_of
from tests.support.facade import FacadeThread, Show, StoredResources
from tests.support.waiting import wait_for

from onair_crds.shapes import JsonObject


def test_secrets_are_in_an_immutable_secret_and_nowhere_else(show: Show, resources: StoredResources) -> None:
    created = show.destination(address=STORAGE)
    (secret,) = secrets_of(resources, created)
    assert secret["type"] == "onair.dev/credentials"
    assert secret["immutable"] is True
    assert {k: base64.b64decode(v).decode() for k, v in secret["data"].items()} == {
        "accessKey": "AKIA-5f2b92",
        "secretKey": "secret-5f2b93",
        "token": "token-5f2b94",
    }
    stored = str(resources.get("destinations", created["destinationId"]))
    assert "5f2b9" not in stored


def test_address_and_key_change_together(show: Show, resources: StoredResources) -> None:
    created = show.destination(address=RTMP)
    path = f"{show.path}/destination/{created['destinationId']}"
    new = {"rtmpPush": {"url": "rtmp://new.example/live", "key": "key-two"}}
    response = show.user.ok("PATCH", path, {"updateMask": "address", "address": new})
    assert response["destination"]["address"] == new
    secret = secret_of(resources, created)
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


def test_writing_back_what_was_read_makes_no_new_secret(show: Show, resources: StoredResources) -> None:
    created = show.destination(address=STORAGE, metadata={"a": 1})
    path = f"{show.path}/destination/{created['destinationId']}"
    before = secrets_of(resources, created)
    version = resources.get("destinations", created["destinationId"])["metadata"]["resourceVersion"]
    assert show.user.ok("PATCH", path, created)["destination"] == created
    assert secrets_of(resources, created) == before
    assert resources.get("destinations", created["destinationId"])["metadata"]["resourceVersion"] == version


def test_one_storage_secret_can_change_alone(show: Show, resources: StoredResources) -> None:
    created = show.destination(address=STORAGE)
    path = f"{show.path}/destination/{created['destinationId']}"
    body = {"address": {"objectStorage": {"secretKey": "changed"}}}
    response = show.user.ok("PATCH", path, body)["destination"]["address"]
    assert response == {"objectStorage": {**STORAGE["objectStorage"], "secretKey": "changed"}}


def test_a_refused_update_takes_its_secret_back(show: Show, resources: StoredResources) -> None:
    created = show.destination(address=RTMP)
    path = f"{show.path}/destination/{created['destinationId']}"
    body = {"address": {"rtmpPush": {"url": "rtmp://a b/", "key": "another"}}}
    response = show.user.call("PATCH", path, body)
    assert response.status_code == 400
    assert len(secrets_of(resources, created)) == 1
    assert show.user.ok("GET", path)["destination"] == created


def test_a_secret_of_the_users_own_is_followed(show: Show, resources: StoredResources) -> None:
    """What kubectl made: a Secret that can change, and one of a type that shows may not use."""
    names = {"mine": "onair.dev/credentials", "forbidden": "Opaque"}
    for name, type_ in names.items():
        resources.add_secret(resources.shows, f"{name}-{show.id}", type_, {"k": f"value of {name}"})
        spec = {
            "projectId": show.id,
            "address": {
                "rtmpPush": {
                    "url": "rtmp://a.example/live",
                    "keySecretRef": {"name": f"{name}-{show.id}", "key": "k"},
                }
            },
        }
        resources.apply("Destination", "destinations", f"{name}-{show.id}", spec)

    def key_of(name: str) -> Any:
        path = f"{show.path}/destination/{name}-{show.id}"
        return show.user.ok("GET", path)["destination"]["address"]["rtmpPush"].get("key")

    wait_for(lambda: key_of("mine") == "value of mine", "the key is shown")
    assert key_of("forbidden") is None
    changed = {"data": {"k": base64.b64encode(b"changed").decode()}}
    resources.admin.patch(
        f"/api/v1/namespaces/{resources.shows}/secrets/mine-{show.id}",
        json=changed,
        headers={"Content-Type": "application/merge-patch+json"},
    ).raise_for_status()
    wait_for(lambda: key_of("mine") == "changed", "the change is seen")


def test_a_secret_that_is_not_there_is_asked_for_once(
    show: Show, resources: StoredResources, facade: FacadeThread, monkeypatch: pytest.MonkeyPatch
) -> None:
    reference = {"name": f"missing-{show.id}", "key": "k"}
    address = {"rtmpPush": {"url": "rtmp://a.example/live", "keySecretRef": reference}}
    spec = {"projectId": show.id, "address": address}
    for number in range(3):
        resources.apply("Destination", "destinations", f"keyless-{number}-{show.id}", spec)
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
