"""API keys of backends."""

from __future__ import annotations

import asyncio
import hashlib
from unittest.mock import create_autospec

import pytest
from tests.support.token_issuer import secret

from onair_api.auth import api_keys as module
from onair_api.auth.api_keys import ApiKeys, Backend
from onair_api.auth.identity import ALL_SCOPES, ApiKeyRef
from onair_api.cache.cluster import Cluster
from onair_api.cache.watched_kinds import API_KEY
from onair_api.errors import Unauthenticated
from onair_api.settings import Settings
from onair_crds.kube.errors import ApiError
from onair_crds.shapes import Document

KEYS = 200


def test_an_api_key_is_known_by_its_hash_alone() -> None:
    cluster = Cluster(None, Settings())  # type: ignore[arg-type]
    api_keys = ApiKeys(cluster)
    digest = hashlib.sha256(b"the-key").hexdigest().encode()
    cluster.view.put(API_KEY, secret("good", 1, {"serviceId": b"studio", "hash": digest}))
    cluster.view.put(API_KEY, secret("bad", 2, {"serviceId": b"studio", "hash": b"short"}))
    cluster.view.put(
        API_KEY,
        secret(
            "mute",
            3,
            {"serviceId": b"mute", "hash": hashlib.sha256(b"m").hexdigest().encode(), "scopes": b""},
        ),
    )
    assert api_keys.backend_of("the-key") == Backend("studio", ALL_SCOPES, ApiKeyRef("good", "good"))
    assert api_keys.backend_of("m") == Backend("mute", (), ApiKeyRef("mute", "mute"))
    for wrong in (None, "", "the-key ", digest.decode(), "short"):
        with pytest.raises(Unauthenticated):
            api_keys.backend_of(wrong)
    cluster.view.remove(API_KEY, "good", "good")
    with pytest.raises(Unauthenticated):
        api_keys.backend_of("the-key")


async def test_a_list_of_many_keys_is_looked_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    load = create_autospec(module._load, side_effect=module._load)
    refresh = create_autospec(ApiKeys._refresh, side_effect=ApiKeys._refresh)
    monkeypatch.setattr(module, "_load", load)
    monkeypatch.setattr(ApiKeys, "_refresh", refresh)
    cluster = Cluster(None, Settings())  # type: ignore[arg-type]
    api_keys = ApiKeys(cluster)
    hashes = [hashlib.sha256(str(number).encode()).hexdigest().encode() for number in range(KEYS)]
    for number, digest in enumerate(hashes):
        cluster.view.put(API_KEY, secret(f"k{number}", number, {"serviceId": b"studio", "hash": digest}))
    await asyncio.sleep(0)
    assert refresh.call_count == 1
    cluster.view.put(API_KEY, secret("one more", KEYS, {"serviceId": b"studio", "hash": hashes[0]}))
    assert api_keys.backend_of("7").key == ApiKeyRef("k7", "k7")
    assert load.call_count == KEYS + 1, "each version once"


async def test_a_key_that_was_there_for_a_moment_is_remembered() -> None:
    cluster = Cluster(None, Settings())  # type: ignore[arg-type]
    api_keys = ApiKeys(cluster)
    digest = hashlib.sha256(b"k").hexdigest().encode()
    cluster.view.put(API_KEY, secret("brief", 1, {"serviceId": b"studio", "hash": digest}))
    await asyncio.sleep(0)
    cluster.view.remove(API_KEY, "brief", "brief")
    assert api_keys.is_deleted(ApiKeyRef("brief", "brief"))


class SecretApiServer:
    """The API server, of which one Secret is asked at a time."""

    def __init__(self) -> None:
        self.stored: dict[str, Document] = {}
        self.asked = 0

    async def get(self, api: object, namespace: str, name: str) -> Document:
        self.asked += 1
        if name not in self.stored:
            raise ApiError(404, "NotFound", "")
        return self.stored[name]


async def test_a_key_that_is_unknown_here_is_looked_for_once() -> None:
    server = SecretApiServer()
    cluster = Cluster(server, Settings())  # type: ignore[arg-type]
    api_keys = ApiKeys(cluster)
    digest = hashlib.sha256(b"k").hexdigest().encode()
    server.stored["new"] = secret("new", 1, {"serviceId": b"studio", "hash": digest})
    key, other = ApiKeyRef("new", "new"), ApiKeyRef("new", "another's uid")
    assert await api_keys.check(key)
    assert await api_keys.check(key)
    assert server.asked == 1
    for _ in range(2):
        assert not await api_keys.check(other)
        assert not await api_keys.check(ApiKeyRef("gone", "uid"))
        assert not await api_keys.check(ApiKeyRef("../evil", "uid"))
    assert server.asked == 3
    assert not api_keys.is_deleted(key)
    cluster.view.remove(API_KEY, "new", "new")
    assert api_keys.is_deleted(key)
    assert not await api_keys.check(key)
