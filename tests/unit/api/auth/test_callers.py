"""Callers of operations, by each kind of access."""

from __future__ import annotations

import gc
from contextvars import copy_context
from dataclasses import replace
from typing import Any

import pytest
from tests.support.token_issuer import ANNA, DAY_MS, TokenIssuer

from onair_api.auth.api_keys import ApiKeys
from onair_api.auth.callers import (
    MAX_SESSION_ID,
    Access,
    ByAccessToken,
    ByAnybody,
    ByApiKey,
    Callers,
    CallHeaders,
)
from onair_api.auth.rate_limits import RateLimits
from onair_api.auth.roles import OWNERS, VIEWERS
from onair_api.auth.verified_token import TokenKind
from onair_api.errors import PermissionDenied, ResourceExhausted, Unauthenticated
from onair_api.settings import RateLimitSettings, RedisSettings
from onair_crds.resources.enums import Role
from onair_crds.runtime.steps import PACE, SharedPace


@pytest.fixture
def issuer() -> TokenIssuer:
    return TokenIssuer()


@pytest.fixture
def callers(issuer: TokenIssuer) -> Callers:
    limits = RateLimits(RateLimitSettings(), RedisSettings())
    return Callers(issuer.tokens, ApiKeys(issuer.cluster), limits)


def headers(token: str, session_id: str | None = None) -> CallHeaders:
    return CallHeaders(f"Bearer {token}", session_id=session_id)


async def test_a_token_of_an_admitted_role_calls(issuer: TokenIssuer, callers: Callers) -> None:
    asked = headers(issuer.tokens.issue(ANNA, DAY_MS), "s" * 500)
    caller = await ByAccessToken(OWNERS).caller(callers, "CreateProject", asked)
    assert (caller.identity, caller.renewed_token) == (ANNA, None)
    assert caller.session_id == "s" * MAX_SESSION_ID


async def test_a_token_that_is_about_to_expire_brings_its_successor(
    issuer: TokenIssuer, callers: Callers
) -> None:
    asked = headers(issuer.tokens.issue(ANNA, DAY_MS))
    issuer.clock.now += DAY_MS / 1000 - 1
    assert (await ByAccessToken(VIEWERS).caller(callers, "GetProject", asked)).renewed_token


async def test_a_role_that_is_not_admitted_is_refused(issuer: TokenIssuer, callers: Callers) -> None:
    asked = headers(issuer.tokens.issue(ANNA, DAY_MS))
    with pytest.raises(PermissionDenied, match="ROLE_HOST may not call Watch"):
        await ByAccessToken(frozenset({Role.VIEWER})).caller(callers, "Watch", asked)


async def test_an_exchange_token_is_only_redeemed(issuer: TokenIssuer, callers: Callers) -> None:
    asked = headers(issuer.tokens.issue_guest(ANNA, TokenKind.EXCHANGE, DAY_MS, session_ms=DAY_MS).token)
    with pytest.raises(Unauthenticated):
        await ByAccessToken(VIEWERS).caller(callers, "GetProject", asked)
    redeeming = ByAccessToken(VIEWERS, redeeming=True)
    assert (await redeeming.caller(callers, "RefreshAccessToken", asked)).token.kind is TokenKind.EXCHANGE


@pytest.mark.parametrize("access", [ByAccessToken(VIEWERS), ByApiKey()])
async def test_without_its_credential_nobody_calls(access: Any, callers: Callers) -> None:
    with pytest.raises(Unauthenticated):
        await access.caller(callers, "GetProject", CallHeaders())


async def test_some_operations_need_no_credential(callers: Callers) -> None:
    access: Access[Any] = ByAnybody()
    found = await access.caller(callers, "GetJsonWebKeySet", CallHeaders("Bearer x", "y"))
    assert found is None


PER_TOKEN, PER_SERVICE = 10, 200


@pytest.fixture
def limited(issuer: TokenIssuer) -> Callers:
    """A Redis that is not reached yet: this replica counts for itself."""
    settings = RateLimitSettings(window_s=3600, per_token=PER_TOKEN, per_service=PER_SERVICE)
    limits = RateLimits(settings, RedisSettings.model_validate({"url": "redis://127.0.0.1:1/0"}))
    return Callers(issuer.tokens, ApiKeys(issuer.cluster), limits)


async def accepted(callers: Callers, token: str, tries: int) -> int:
    """How many requests with a token are."""
    count = 0
    for _ in range(tries):
        try:
            await ByAccessToken(VIEWERS).caller(callers, "GetProject", headers(token))
        except ResourceExhausted:
            continue
        count += 1
    return count


async def test_a_guest_who_refreshes_their_token_leaves_the_service_to_others(
    issuer: TokenIssuer, limited: Callers
) -> None:
    guest = issuer.tokens.issue(replace(ANNA, service_user_id="eve", role=Role.GUEST), DAY_MS)
    tokens = [guest]
    while len(tokens) < 4 * PER_SERVICE // PER_TOKEN:
        tokens.append(issuer.tokens.renew(await issuer.tokens.verify(f"Bearer {tokens[-1]}")))
    taken = [await accepted(limited, token, PER_TOKEN) for token in tokens]
    assert sum(taken) <= PER_SERVICE // 2
    assert taken[0] == PER_TOKEN
    host = issuer.tokens.issue(ANNA, DAY_MS)
    assert await accepted(limited, host, 2 * PER_TOKEN) == PER_TOKEN


async def test_those_who_redeem_one_guest_code_are_not_counted_as_one_token(
    issuer: TokenIssuer, limited: Callers
) -> None:
    link = issuer.tokens.issue_guest(ANNA, TokenKind.EXCHANGE, DAY_MS, session_ms=DAY_MS).token
    shared = await issuer.tokens.verify(f"Bearer {link}", redeeming=True)
    for _ in range(4):
        assert await accepted(limited, issuer.tokens.renew(shared), 2 * PER_TOKEN) == PER_TOKEN


def test_requests_of_a_service_share_a_pace_while_there_are_some(callers: Callers) -> None:
    def paced(service_id: str) -> SharedPace | None:
        callers.begin(service_id)
        return PACE.get()

    one, same, other = (copy_context().run(paced, each) for each in ("s", "s", "t"))
    assert one is same
    assert one is not other
    assert set(callers.paces) == {"s", "t"}
    del one, same
    gc.collect()
    assert set(callers.paces) == {"t"}
