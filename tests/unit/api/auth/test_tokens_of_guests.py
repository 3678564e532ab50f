"""Tokens of guests: kinds, ends, revocation."""

from __future__ import annotations

import pytest
from tests.support.token_issuer import ANNA, DAY_MS, START, TokenIssuer
from tests.support.tokens import claims_of

from onair_api.auth.identity import GuestControl, Identity
from onair_api.auth.verified_token import TokenKind, Verified
from onair_api.errors import Unauthenticated
from onair_crds.resources.enums import Role

BEN = Identity("studio", "ben", "Ben", Role.GUEST, (), GuestControl("c", "p"))


@pytest.fixture
def issuer() -> TokenIssuer:
    return TokenIssuer()


async def verified(issuer: TokenIssuer, token: str, *, redeeming: bool = False) -> Verified:
    return await issuer.tokens.verify(f"Bearer {token}", redeeming=redeeming)


async def test_a_guests_token_says_what_it_reaches(issuer: TokenIssuer) -> None:
    issued = issuer.tokens.issue_guest(BEN, TokenKind.DIRECT, DAY_MS)
    found = await verified(issuer, issued.token)
    assert (found.identity, found.kind, found.id) == (BEN, TokenKind.DIRECT, issued.id)
    assert found.expires == issued.expires == START + DAY_MS / 1000


async def test_an_exchange_token_is_accepted_for_its_redemption_alone(issuer: TokenIssuer) -> None:
    token = issuer.tokens.issue_guest(BEN, TokenKind.EXCHANGE, 60_000, session_ms=DAY_MS).token
    with pytest.raises(Unauthenticated, match="only be refreshed"):
        await verified(issuer, token)
    session = issuer.tokens.renew(await verified(issuer, token, redeeming=True))
    found = await verified(issuer, session)
    assert (found.kind, found.identity, found.session_s) == (TokenKind.SESSION, BEN, None)
    assert found.expires - found.issued == DAY_MS / 1000


async def test_a_revoked_token_is_refused_also_when_it_is_remembered(issuer: TokenIssuer) -> None:
    revoked: set[str] = set()
    issuer.tokens._revoked = revoked.__contains__
    direct = issuer.tokens.issue_guest(BEN, TokenKind.DIRECT, DAY_MS)
    await verified(issuer, direct.token)
    revoked.add(direct.id)
    for redeeming in (False, True):
        with pytest.raises(Unauthenticated, match="redeemed"):
            await verified(issuer, direct.token, redeeming=redeeming)


async def test_no_token_outlives_seven_days_from_the_first(issuer: TokenIssuer) -> None:
    week_s = 604_800
    issued = issuer.tokens.issue_guest(
        BEN, TokenKind.EXCHANGE, week_s * 1000, session_ms=week_s * 1000, first_issued=START - 1000
    )
    assert issued.expires == START - 1000 + week_s
    issuer.clock.now += 5000
    session = issuer.tokens.renew(await verified(issuer, issued.token, redeeming=True))
    assert claims_of(session)["exp"] == START - 1000 + week_s


async def test_a_direct_token_ends_with_its_issuers_token(issuer: TokenIssuer) -> None:
    assert (
        issuer.tokens.issue_guest(BEN, TokenKind.DIRECT, DAY_MS, not_after=START + 60).expires == START + 60
    )
    assert (
        issuer.tokens.issue_guest(BEN, TokenKind.DIRECT, 30_000, not_after=START + 60).expires == START + 30
    )


async def test_only_the_last_tenth_of_a_life_is_near_its_end(issuer: TokenIssuer) -> None:
    found = await verified(issuer, issuer.tokens.issue(ANNA, 1_000_000))
    issuer.clock.now = START + 899
    assert issuer.tokens.renewed_near_end(found) is None
    issuer.clock.now = START + 900
    successor = issuer.tokens.renewed_near_end(found)
    assert successor
    assert issuer.tokens.renewed_near_end(found) == successor
