"""Keys that come, go and are broken."""

from __future__ import annotations

import asyncio

import jwt
import pytest
from tests.support.token_issuer import ANNA, DAY_MS, PRIVATE_KEYS, TokenIssuer, pem, secret

from onair_api.auth.signing_keys import DATA_KEY, SigningKeys
from onair_api.cache.cluster import Cluster
from onair_api.cache.watched_kinds import SIGNING_KEY
from onair_api.errors import Unauthenticated, Unavailable
from onair_api.settings import Settings
from onair_crds.contract.json_web_keys import json_web_key
from onair_crds.contract.labels import SIGNING_KEY_TYPE
from onair_crds.kube.errors import ApiError
from onair_crds.shapes import Document


@pytest.fixture
def issuer() -> TokenIssuer:
    return TokenIssuer()


async def test_a_new_key_signs_and_the_old_one_still_verifies(issuer: TokenIssuer) -> None:
    old = issuer.tokens.issue(ANNA, DAY_MS)
    issuer.add_key("two", 2, PRIVATE_KEYS[1])
    new = issuer.tokens.issue(ANNA, DAY_MS)
    assert jwt.get_unverified_header(old)["kid"] != jwt.get_unverified_header(new)["kid"]
    assert await issuer.verify(old) == await issuer.verify(new) == ANNA
    assert [key["kid"] for key in issuer.keys.jwks()] == [
        jwt.get_unverified_header(token)["kid"] for token in (old, new)
    ]


async def test_a_removed_key_ends_its_tokens_also_those_remembered(issuer: TokenIssuer) -> None:
    token = issuer.tokens.issue(ANNA, DAY_MS)
    await issuer.verify(token)
    issuer.add_key("two", 2, PRIVATE_KEYS[1])
    issuer.cluster.view.remove(SIGNING_KEY, "one", "one")
    with pytest.raises(Unauthenticated):
        await issuer.verify(token)


async def test_what_a_removed_key_signed_has_ended_until_the_key_is_back(issuer: TokenIssuer) -> None:
    identity = await issuer.verify(issuer.tokens.issue(ANNA, DAY_MS))
    assert not issuer.tokens.known_to_have_ended(identity)
    assert not await issuer.tokens.has_ended(identity)
    issuer.cluster.view.remove(SIGNING_KEY, "one", "one")
    assert issuer.tokens.known_to_have_ended(identity)
    assert await issuer.tokens.has_ended(identity)
    issuer.add_key("one again", 3, PRIVATE_KEYS[0])
    assert not issuer.tokens.known_to_have_ended(identity)
    assert not await issuer.tokens.has_ended(identity)


async def test_a_key_whose_secret_is_edited_is_another(issuer: TokenIssuer) -> None:
    token = issuer.tokens.issue(ANNA, DAY_MS)
    identity = await issuer.verify(token)
    issuer.add_key("one", 2, PRIVATE_KEYS[1])
    assert issuer.tokens.known_to_have_ended(identity)
    with pytest.raises(Unauthenticated):
        await issuer.verify(token)
    assert await issuer.verify(issuer.tokens.issue(ANNA, DAY_MS)) == ANNA


async def test_a_key_that_is_being_deleted_signs_and_verifies_nothing(issuer: TokenIssuer) -> None:
    token = issuer.tokens.issue(ANNA, DAY_MS)
    document = secret("one", 2, {DATA_KEY: pem(PRIVATE_KEYS[0])})
    document["metadata"]["deletionTimestamp"] = "2026-01-02T00:00:00Z"
    issuer.cluster.view.put(SIGNING_KEY, document)
    with pytest.raises(Unauthenticated):
        await issuer.verify(token)
    with pytest.raises(Unavailable):
        issuer.tokens.issue(ANNA, DAY_MS)


class SigningKeyApiServer:
    """The API server, whose signing keys are listed."""

    def __init__(self) -> None:
        self.stored: list[Document] = []
        self.lists = 0
        self.responds = True

    async def list(self, api: object, namespace: str, **query: str) -> Document:
        if not self.responds:
            raise ApiError(503, "ServiceUnavailable", "")
        if SIGNING_KEY_TYPE not in query["fieldSelector"]:
            return {"items": []}
        self.lists += 1
        await asyncio.sleep(0)
        return {"items": self.stored}


async def test_a_key_that_is_unknown_here_is_looked_for_once() -> None:
    server = SigningKeyApiServer()
    keys = SigningKeys(Cluster(server, Settings()))  # type: ignore[arg-type]
    server.stored.append(secret("new", 1, {DATA_KEY: pem(PRIVATE_KEYS[0])}))
    kid = json_web_key(PRIVATE_KEYS[0].public_key())["kid"]
    for _ in range(2):
        assert await keys.check(kid)
        assert await keys.check("")
        assert not await keys.check("gone")
    assert server.lists == 2
    assert keys.is_deleted("gone")
    server.responds = False
    with pytest.raises(ApiError):
        await keys.check("another")
    assert not keys.is_deleted("another")


def test_a_broken_key_is_left_out(issuer: TokenIssuer) -> None:
    issuer.cluster.view.put(SIGNING_KEY, secret("broken", 3, {"private.pem": b"nonsense"}))
    issuer.cluster.view.put(SIGNING_KEY, secret("empty", 4, {}))
    assert len(issuer.keys.jwks()) == 1
    assert set(issuer.keys.jwks()[0]) == {"alg", "kty", "use", "kid", "e", "n"}


async def test_tokens_that_come_while_their_key_is_looked_for_wait_for_it() -> None:
    server = SigningKeyApiServer()
    keys = SigningKeys(Cluster(server, Settings()))  # type: ignore[arg-type]
    server.stored.append(secret("new", 1, {DATA_KEY: pem(PRIVATE_KEYS[0])}))
    kid = json_web_key(PRIVATE_KEYS[0].public_key())["kid"]
    found = await asyncio.gather(*(keys.find(kid) for _ in range(3)))
    assert [key and key.kid for key in found] == [kid] * 3
    assert await keys.find("unknown") is None
    assert server.lists == 1
