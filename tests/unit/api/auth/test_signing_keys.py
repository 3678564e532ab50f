"""Keys that come, go and are broken."""

from __future__ import annotations

import jwt
import pytest
from tests.support.token_issuer import ANNA, DAY_MS, PRIVATE_KEYS, TokenIssuer, secret

from onair_api.cache.watched_kinds import SIGNING_KEY
from onair_api.errors import Unauthenticated


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


def test_a_broken_key_is_left_out(issuer: TokenIssuer) -> None:
    issuer.cluster.view.put(SIGNING_KEY, secret("broken", 3, {"private.pem": b"nonsense"}))
    issuer.cluster.view.put(SIGNING_KEY, secret("empty", 4, {}))
    assert len(issuer.keys.jwks()) == 1
    assert set(issuer.keys.jwks()[0]) == {"alg", "kty", "use", "kid", "e", "n"}
