"""Access tokens: what they say, when they are refused, how they are renewed."""

from __future__ import annotations

import asyncio
import base64
import hmac
import json
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives import serialization
from tests.support.token_issuer import ANNA, DAY_MS, PRIVATE_KEYS, START, TokenIssuer
from tests.support.tokens import claims_of

from onair_api.auth.identity import SCOPE_CREATE
from onair_api.cache.watched_kinds import SIGNING_KEY
from onair_api.errors import Unauthenticated
from onair_api.settings import MAX_TOKEN_DURATION_MS
from onair_crds.shapes import Claims


@pytest.fixture
def issuer() -> TokenIssuer:
    return TokenIssuer()


def forged(
    issuer: TokenIssuer, key: Any, algorithm: str = "RS256", kid: str | None = None, **changes: Any
) -> str:
    claims = {**claims_of(issuer.tokens.issue(ANNA, DAY_MS)), **changes}
    kid = kid or issuer.keys.newest().kid
    claims = {name: value for name, value in claims.items() if value is not None}
    return jwt.encode(claims, key, algorithm=algorithm, headers={"kid": kid})


async def test_a_token_says_who_calls(issuer: TokenIssuer) -> None:
    assert await issuer.verify(issuer.tokens.issue(ANNA, DAY_MS)) == ANNA


@pytest.mark.parametrize("clock_s", [-5, 5])
async def test_a_replica_whose_clock_is_not_ours_issues_tokens_that_count(
    issuer: TokenIssuer, clock_s: float
) -> None:
    issuer.clock.now = START + clock_s
    token = issuer.tokens.issue(ANNA, DAY_MS)
    issuer.clock.now = START
    assert await issuer.verify(token) == ANNA


def test_the_claims_are_those_of_the_interface(issuer: TokenIssuer) -> None:
    claims = claims_of(issuer.tokens.issue(ANNA, DAY_MS))
    assert claims["iss"] == "onair"
    assert claims["exp"] - claims["iat"] == DAY_MS / 1000
    assert claims["role"] == "ROLE_HOST"
    assert claims["scopes"] == [SCOPE_CREATE]
    assert claims["sub"] == claims["user"]["userId"]
    assert claims["user"] | {"userId": ""} == {
        "userId": "",
        "serviceUserId": "anna",
        "displayName": "Anna",
        "serviceId": "studio",
        "trial": False,
        "demo": False,
    }


@pytest.mark.parametrize(
    "header",
    [
        None,
        "",
        "Bearer",
        "Bearer ",
        "Bearer undefined",
        "Basic abc",
        "Bearer a.b.c",
        "Bearer é",
        "Bearer " + "x" * 9000,
    ],
)
async def test_what_is_no_token_is_refused(issuer: TokenIssuer, header: str | None) -> None:
    with pytest.raises(Unauthenticated):
        await issuer.tokens.verify(header)


@pytest.mark.parametrize(
    "changes",
    [
        {"iss": "somebody"},
        {"iss": None},
        {"exp": None},
        {"iat": None},
        {"sub": None},
        {"jti": None},
        {"user": None},
        {"user": {}},
        {"user": "anna"},
        {"scopes": None},
        {"role": "ROLE_KING"},
        {"role": None},
        {"exp": "soon"},
        {"exp": START - 1},
    ],
)
async def test_a_well_signed_token_with_wrong_claims_is_refused(issuer: TokenIssuer, changes: Claims) -> None:
    with pytest.raises(Unauthenticated):
        await issuer.verify(forged(issuer, PRIVATE_KEYS[0], **changes))


async def test_a_token_signed_by_another_key_is_refused(issuer: TokenIssuer) -> None:
    with pytest.raises(Unauthenticated):
        await issuer.verify(forged(issuer, PRIVATE_KEYS[1]))


async def test_an_unsigned_token_is_refused(issuer: TokenIssuer) -> None:
    with pytest.raises(Unauthenticated):
        await issuer.verify(forged(issuer, None, "none"))


async def test_the_public_key_is_no_shared_secret(issuer: TokenIssuer) -> None:
    public = PRIVATE_KEYS[0].public_key()
    text = public.public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)

    def part(value: Any) -> bytes:
        return base64.urlsafe_b64encode(json.dumps(value).encode()).rstrip(b"=")

    head = part({"alg": "HS256", "typ": "JWT", "kid": issuer.keys.newest().kid})
    signed = head + b"." + part(claims_of(issuer.tokens.issue(ANNA, DAY_MS)))
    signature = base64.urlsafe_b64encode(hmac.digest(text, signed, "sha256")).rstrip(b"=")
    with pytest.raises(Unauthenticated):
        await issuer.verify((signed + b"." + signature).decode())


async def test_a_token_ends_also_when_it_is_remembered(issuer: TokenIssuer) -> None:
    token = issuer.tokens.issue(ANNA, 60_000)
    await issuer.verify(token)
    issuer.clock.now += 59
    await issuer.verify(token)
    issuer.clock.now += 1
    with pytest.raises(Unauthenticated, match="expired"):
        await issuer.verify(token)


async def test_remembered_tokens_are_bounded() -> None:
    issuer = TokenIssuer(cache_size=3)
    for _ in range(10):
        await issuer.verify(issuer.tokens.issue(ANNA, DAY_MS))
    assert len(issuer.tokens._cache) == 3


async def test_a_renewal_keeps_the_grants_and_the_length(issuer: TokenIssuer) -> None:
    first = issuer.tokens.issue(ANNA, DAY_MS)
    issuer.clock.now += 3600
    second = issuer.tokens.renew(await issuer.tokens.verify(f"Bearer {first}"))
    assert await issuer.verify(second) == ANNA
    assert claims_of(second)["exp"] - claims_of(second)["iat"] == DAY_MS / 1000
    assert claims_of(second)["jti"] != claims_of(first)["jti"]


async def test_renewals_end_seven_days_after_the_first_issue(issuer: TokenIssuer) -> None:
    token = issuer.tokens.issue(ANNA, DAY_MS)
    for _ in range(20):
        issuer.clock.now = claims_of(token)["exp"] - 1
        renewed = issuer.tokens.renew(await issuer.tokens.verify(f"Bearer {token}"))
        if claims_of(renewed)["exp"] == claims_of(token)["exp"]:
            break
        token = renewed
    assert claims_of(token)["exp"] == START + MAX_TOKEN_DURATION_MS / 1000


async def test_a_token_whose_signing_key_goes_while_its_api_key_is_looked_for_is_not_remembered(
    issuer: TokenIssuer, monkeypatch: pytest.MonkeyPatch
) -> None:
    token = issuer.tokens.issue(ANNA, DAY_MS)
    asked, responded = asyncio.Event(), asyncio.Event()

    async def slow(_: object) -> bool:
        asked.set()
        await responded.wait()
        return False

    with monkeypatch.context() as patched:
        patched.setattr(issuer.tokens, "_lost_its_key", slow)
        first = asyncio.create_task(issuer.verify(token))
        await asked.wait()
    issuer.add_key("two", 2, PRIVATE_KEYS[1])
    issuer.cluster.view.remove(SIGNING_KEY, "one", "one")
    await issuer.verify(issuer.tokens.issue(ANNA, DAY_MS))  # by which remembered tokens are forgotten
    responded.set()
    await first
    with pytest.raises(Unauthenticated):
        await issuer.verify(token)
