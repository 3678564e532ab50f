"""Secrets of a destination that an update does not name, where who writes may not read them."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from tests.support.facade import Show, StoredResources, User
from tests.support.tokens import fields_of, violations_of

from onair_crds.shapes import JsonObject

RTMP: JsonObject = {"rtmpPush": {"url": "rtmp://media.example/live", "key": "key-7c1"}}
SRT: JsonObject = {"srtPush": {"url": "srt://media.example:9000?streamid=s&passphrase=phrase-7c2-more"}}
STORAGE: JsonObject = {
    "objectStorage": {
        "region": "eu-central-1",
        "bucket": "shows",
        "accessKey": "access-7c3",
        "secretKey": "secret-7c4",
        "endpoint": "https://s3.example",
        "packaging": {"hls": {}},
    }
}


@pytest.fixture
def support(sign_in: Callable[..., User]) -> tuple[Show, User]:
    """A show, and somebody who acts for its owner and may not read its secrets."""
    show = sign_in("owner-of-kept").project()
    return show, sign_in("owner-of-kept", role="ROLE_IMPERSONATE")


def references(resources: StoredResources, destination: JsonObject) -> set[str]:
    address = resources.get("destinations", destination["destinationId"])["spec"]["address"]
    return {name for part in address.values() for name in part if name.endswith("SecretRef")}


@pytest.mark.parametrize("mask", [None, "address.rtmpPush.url"])
def test_a_key_is_not_sent_to_a_new_address(
    support: tuple[Show, User], resources: StoredResources, mask: str | None
) -> None:
    show, actor = support
    created = show.destination(address=RTMP)
    path = f"{show.path}/destination/{created['destinationId']}"
    body = {"updateMask": mask, "address": {"rtmpPush": {"url": "rtmp://elsewhere.example/live"}}}
    actor.ok("PATCH", path, body)
    assert references(resources, created) == set()
    assert show.user.ok("GET", path)["destination"]["address"] == body["address"]


def test_a_key_of_their_own_goes_with_a_new_address(
    support: tuple[Show, User], resources: StoredResources
) -> None:
    show, actor = support
    created = show.destination(address=RTMP)
    path = f"{show.path}/destination/{created['destinationId']}"
    own: JsonObject = {"rtmpPush": {"url": "rtmp://elsewhere.example/live", "key": "own"}}
    actor.ok("PATCH", path, {"address": own})
    assert show.user.ok("GET", path)["destination"]["address"] == own


@pytest.mark.parametrize("address", [RTMP, SRT, STORAGE], ids=["rtmp", "srt", "storage"])
def test_what_they_read_and_write_back_keeps_the_secrets(
    support: tuple[Show, User], resources: StoredResources, address: JsonObject
) -> None:
    show, actor = support
    created = show.destination(address=address)
    path = f"{show.path}/destination/{created['destinationId']}"
    before = references(resources, created)
    seen = actor.ok("GET", path)["destination"]
    assert "7c" not in str(seen["address"])
    actor.ok("PATCH", path, seen)
    actor.ok("PATCH", path, {"timeout": 700})
    assert references(resources, created) == before != set()
    assert show.user.ok("GET", path)["destination"]["address"] == created["address"]


def test_a_passphrase_is_not_sent_to_a_new_address(
    support: tuple[Show, User], resources: StoredResources
) -> None:
    show, actor = support
    created = show.destination(address=SRT)
    path = f"{show.path}/destination/{created['destinationId']}"
    actor.ok("PATCH", path, {"address": {"srtPush": {"url": "srt://elsewhere.example:9000?streamid=s"}}})
    assert references(resources, created) == set()


@pytest.mark.parametrize("changed", [{"endpoint": "https://elsewhere.example"}, {"region": "us-east-1"}])
def test_credentials_of_a_storage_are_needed_anew_for_another_server(
    support: tuple[Show, User], resources: StoredResources, changed: JsonObject
) -> None:
    show, actor = support
    created = show.destination(address=STORAGE)
    path = f"{show.path}/destination/{created['destinationId']}"
    response = actor.call("PATCH", path, {"address": {"objectStorage": changed}})
    assert fields_of(response) == {"address.objectStorage.accessKey", "address.objectStorage.secretKey"}
    assert references(resources, created) == {"accessKeySecretRef", "secretKeySecretRef"}


@pytest.mark.parametrize("name", ["accessKey", "secretKey"])
def test_a_required_secret_is_not_empty(support: tuple[Show, User], name: str) -> None:
    show, _ = support
    empty = {"objectStorage": {**STORAGE["objectStorage"], name: ""}}
    response = show.user.call("POST", f"{show.path}/destination", {"address": empty})
    assert violations_of(response) == {f"address.objectStorage.{name}": "must not be empty"}
    created = show.destination(address=STORAGE)
    path = f"{show.path}/destination/{created['destinationId']}"
    assert fields_of(show.user.call("PATCH", path, {"address": empty})) == {f"address.objectStorage.{name}"}
