"""API keys of backends."""

from __future__ import annotations

import hashlib

import pytest
from tests.support.token_issuer import secret

from onair_api.auth.api_keys import ApiKeys, Backend
from onair_api.auth.identity import ALL_SCOPES
from onair_api.cache.cluster import Cluster
from onair_api.cache.watched_kinds import API_KEY
from onair_api.errors import Unauthenticated
from onair_api.settings import Settings


def test_an_api_key_is_known_by_its_hash_alone() -> None:
    cluster = Cluster(None, Settings())  # type: ignore[arg-type]
    api_keys = ApiKeys(cluster.view)
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
    assert api_keys.backend_of("the-key") == Backend("studio", ALL_SCOPES)
    assert api_keys.backend_of("m") == Backend("mute", ())
    for wrong in (None, "", "the-key ", digest.decode(), "short"):
        with pytest.raises(Unauthenticated):
            api_keys.backend_of(wrong)
    cluster.view.remove(API_KEY, "good", "good")
    with pytest.raises(Unauthenticated):
        api_keys.backend_of("the-key")
