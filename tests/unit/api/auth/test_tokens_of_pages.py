"""Tokens of pages, which the operator signs: its key is good for nothing else."""

from __future__ import annotations

from typing import Any

import jwt
import pytest
from tests.support.page_token import page_claims
from tests.support.token_issuer import START, TokenIssuer, secret
from tests.support.tokens import claims_of

from onair_api.auth.identity import Identity
from onair_api.auth.token_runs import is_over, run_is_over
from onair_api.auth.verified_token import TokenKind, Verified
from onair_api.cache.view import View
from onair_api.cache.watched_kinds import PROJECT, RENDERER_KEY
from onair_api.errors import Unauthenticated
from onair_crds.contract.renderer_token import SESSION_S
from onair_crds.contract.runs import with_used
from onair_crds.kube.store import Entry
from onair_crds.resources.enums import Role
from onair_crds.shapes import Document
from onair_operator.encoder.renderer_key import RendererKey

KEY = RendererKey.generate()


@pytest.fixture
def issuer() -> TokenIssuer:
    issuer = TokenIssuer()
    public = {"public.pem": KEY.public_pem().encode()}
    issuer.cluster.view.put(RENDERER_KEY, secret("renderer", 9, public))
    return issuer


def page_token(**changes: Any) -> str:
    return RendererKey(KEY.private).token(page_claims(START, **changes))


async def redeemed(issuer: TokenIssuer, token: str) -> str:
    verified = await issuer.tokens.verify(f"Bearer {token}", redeeming=True)
    return issuer.tokens.renew(verified)


async def test_a_page_token_is_good_for_a_session_and_nothing_else(issuer: TokenIssuer) -> None:
    with pytest.raises(Unauthenticated, match="can only be refreshed"):
        await issuer.verify(page_token())
    session = await redeemed(issuer, page_token())
    verified = await issuer.tokens.verify(f"Bearer {session}")
    identity = verified.identity
    assert (verified.kind, identity.role, identity.scopes) == (TokenKind.SESSION, Role.RENDERER, ())
    assert identity.guest
    assert (identity.guest.project_id, identity.guest.project_uid) == ("show", "uid-show")
    claims = claims_of(session)
    assert claims["exp"] - claims["iat"] == SESSION_S
    assert claims["guestControl"] == {
        "collectionId": "sunday",
        "projectId": "show",
        "role": "ROLE_RENDERER",
    }
    again = await issuer.tokens.verify(f"Bearer {session}", redeeming=True)
    assert claims_of(issuer.tokens.renew(again))["guestControl"] == claims["guestControl"]


async def test_it_may_be_redeemed_as_often_as_the_page_reloads(issuer: TokenIssuer) -> None:
    token = page_token()
    first, second = await redeemed(issuer, token), await redeemed(issuer, token)
    assert await issuer.verify(first) == await issuer.verify(second)


async def test_sessions_end_with_the_page_token_at_the_latest(issuer: TokenIssuer) -> None:
    issuer.clock.now = START + 7 * 86_400 - 60
    claims = claims_of(await redeemed(issuer, page_token()))
    assert claims["exp"] - claims["iat"] == 60
    issuer.clock.now += 60
    with pytest.raises(Unauthenticated, match="expired"):
        await redeemed(issuer, page_token())


@pytest.mark.parametrize(
    "changes",
    [
        {"role": "ROLE_HOST"},
        {
            "role": "ROLE_HOST",
            "guestControl": {"collectionId": "sunday", "projectId": "show", "role": "ROLE_HOST"},
        },
        {"kind": "session"},
        {"kind": "direct"},
        {"kind": None},
        {"guestControl": None},
        {"projectUid": None},
        {"scopes": ["SCOPE_VAPI_CREATE"]},
        {"run": None},
        {"session": None},
        {"iss": "another"},
    ],
)
async def test_the_operators_key_signs_pages_and_no_others(issuer: TokenIssuer, changes: Document) -> None:
    with pytest.raises(Unauthenticated):
        await issuer.tokens.verify(f"Bearer {page_token(**changes)}", redeeming=True)


async def test_its_public_half_is_published_and_nothing_of_ours_is_signed_with_it(
    issuer: TokenIssuer,
) -> None:
    kid = jwt.get_unverified_header(page_token())["kid"]
    assert [each["kid"] for each in issuer.keys.jwks()].count(kid) == 1
    assert issuer.keys.newest().kid != kid
    assert issuer.keys.jwks()[-1]["kid"] == issuer.keys.newest().kid


async def test_a_key_that_is_gone_ends_its_tokens(issuer: TokenIssuer) -> None:
    await redeemed(issuer, page_token())
    issuer.cluster.view.remove(RENDERER_KEY, "renderer", "renderer")
    with pytest.raises(Unauthenticated, match="key is unknown"):
        await redeemed(issuer, page_token())


def test_the_same_run_has_the_same_token_and_its_user_is_ours(issuer: TokenIssuer) -> None:
    assert page_token() == page_token()
    claims = claims_of(page_token())
    assert claims["sub"] == claims["user"]["userId"] == Identity.from_claims(claims, "").user_id


@pytest.mark.parametrize(
    ("status", "over"),
    [
        ({}, False),
        ({"broadcast": {"id": "run", "phase": "Waiting"}}, False),
        ({"broadcast": {"id": "run", "phase": "Running"}}, False),
        ({"broadcast": {"id": "run", "phase": "Stopping"}}, False),
        ({"broadcast": {"id": "run", "phase": "Stopped"}}, True),
        ({"broadcast": {"id": "before", "phase": "Stopped"}}, False),
        ({"broadcast": {"id": "after", "phase": "Running"}, "previous": {"id": "run"}}, True),
        ({"broadcast": {"id": "after", "phase": "Running"}, "used": with_used([], "run")}, True),
    ],
)
def test_a_run_is_over_once_that_is_known(status: Document, over: bool) -> None:
    metadata = {"name": "show", "uid": "uid-show", "resourceVersion": "1"}
    assert is_over(Entry("Project", {"metadata": metadata, "status": status}), "run") is over


async def test_sessions_of_a_page_end_with_its_run(issuer: TokenIssuer) -> None:
    over: set[str] = set()
    issuer.tokens._run_over = lambda token: token.run in over
    session = await redeemed(issuer, page_token())
    verified = await issuer.tokens.verify(f"Bearer {session}")
    assert (verified.kind, verified.run) == (TokenKind.SESSION, "run")
    renewed = issuer.tokens.renew(verified)
    over.add("run")
    for token in (session, renewed):
        with pytest.raises(Unauthenticated, match="broadcast has ended"):
            await issuer.tokens.verify(f"Bearer {token}")


def test_a_tokens_run_is_that_of_its_very_project() -> None:
    view, token = View(), Verified.of_claims(claims_of(page_token()), "key")
    assert not run_is_over(view, token), "nothing is known of it"
    stopped = {"broadcast": {"id": "run", "phase": "Stopped"}}
    metadata = {"name": "show", "uid": "another", "resourceVersion": "1"}
    view.put(PROJECT, {"metadata": metadata, "spec": {}, "status": stopped})
    assert not run_is_over(view, token)
    view.put(
        PROJECT, {"metadata": {**metadata, "uid": "uid-show", "resourceVersion": "2"}, "status": stopped}
    )
    assert run_is_over(view, token)
