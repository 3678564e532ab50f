"""Guests' tokens without a cluster: kinds, ends, urls; addresses that are assigned."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.api.test_tokens import ANNA, DAY_MS, START, World, claims_of

from onair_api.auth.guest_codes import secret_name, with_token
from onair_api.auth.identity import GuestControl, Identity
from onair_api.auth.tokens import TokenKind, Verified
from onair_api.errors import InvalidArgument, Unauthenticated
from onair_api.live.authentication.requests import guest_request, is_http_url
from onair_api.settings import IngestSettings, TokenSettings
from onair_crds.contract.ingest import Ingest, assigned_push, cluster_ingest
from onair_crds.resources.enums import Role
from onair_crds.resources.source import SourceAddress

BEN = Identity("studio", "ben", "Ben", Role.GUEST, (), GuestControl("c", "p"))
IDS = {"collectionId": "c", "projectId": "p"}


@pytest.fixture
def world() -> World:
    return World()


async def verified(world: World, token: str, *, redeeming: bool = False) -> Verified:
    return await world.tokens.verify(f"Bearer {token}", redeeming=redeeming)


async def test_a_guests_token_says_what_it_reaches(world: World) -> None:
    issued = world.tokens.issue_guest(BEN, TokenKind.DIRECT, DAY_MS)
    found = await verified(world, issued.token)
    assert (found.identity, found.kind, found.id) == (BEN, TokenKind.DIRECT, issued.id)
    assert found.expires == issued.expires == START + DAY_MS / 1000


async def test_an_exchange_token_is_accepted_for_its_redemption_alone(world: World) -> None:
    token = world.tokens.issue_guest(BEN, TokenKind.EXCHANGE, 60_000, session_ms=DAY_MS).token
    with pytest.raises(Unauthenticated, match="only be refreshed"):
        await verified(world, token)
    session = world.tokens.renew(await verified(world, token, redeeming=True))
    found = await verified(world, session)
    assert (found.kind, found.identity, found.session_s) == (TokenKind.SESSION, BEN, None)
    assert found.expires - found.issued == DAY_MS / 1000


async def test_a_revoked_token_is_refused_also_when_it_is_remembered(world: World) -> None:
    revoked: set[str] = set()
    world.tokens._revoked = revoked.__contains__
    direct = world.tokens.issue_guest(BEN, TokenKind.DIRECT, DAY_MS)
    await verified(world, direct.token)
    revoked.add(direct.id)
    for redeeming in (False, True):
        with pytest.raises(Unauthenticated, match="redeemed"):
            await verified(world, direct.token, redeeming=redeeming)


async def test_no_token_outlives_seven_days_from_the_first(world: World) -> None:
    week_s = 604_800
    issued = world.tokens.issue_guest(
        BEN, TokenKind.EXCHANGE, week_s * 1000, session_ms=week_s * 1000, first_issued=START - 1000
    )
    assert issued.expires == START - 1000 + week_s
    world.clock.now += 5000
    session = world.tokens.renew(await verified(world, issued.token, redeeming=True))
    assert claims_of(session)["exp"] == START - 1000 + week_s


async def test_a_direct_token_ends_with_its_issuers(world: World) -> None:
    assert world.tokens.issue_guest(BEN, TokenKind.DIRECT, DAY_MS, not_after=START + 60).expires == START + 60
    assert world.tokens.issue_guest(BEN, TokenKind.DIRECT, 30_000, not_after=START + 60).expires == START + 30


async def test_only_the_last_tenth_of_a_life_is_near_its_end(world: World) -> None:
    found = await verified(world, world.tokens.issue(ANNA, 1_000_000))
    world.clock.now = START + 899
    assert world.tokens.renewed_near_end(found) is None
    world.clock.now = START + 900
    successor = world.tokens.renewed_near_end(found)
    assert successor
    assert world.tokens.renewed_near_end(found) == successor


@pytest.mark.parametrize(
    "control",
    [
        "p",
        {},
        {"collectionId": "c", "projectId": "p"},
        {"collectionId": "c", "projectId": 5, "role": "ROLE_GUEST"},
        {"collectionId": "c", "projectId": "p", "role": "ROLE_HOST"},
    ],
)
def test_a_guest_control_that_does_not_fit_is_refused(control: Any) -> None:
    with pytest.raises(ValueError, match="claim"):
        Identity.from_claims({**BEN.claims(), "guestControl": control})


def test_both_forms_of_the_select_one_mean_the_same() -> None:
    settings = TokenSettings()
    options = {"displayName": "Ben", "service_user_id": "ben"}
    beside = guest_request({**IDS, "direct": options}, settings)
    assert beside == guest_request({**IDS, "token": {"direct": options}}, settings)
    assert (beside.kind, beside.display_name, beside.service_user_id) == (TokenKind.DIRECT, "Ben", "ben")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)
NAMES = st.sampled_from(
    [
        "collectionId",
        "projectId",
        "role",
        "maxDuration",
        "direct",
        "exchange",
        "token",
        "url",
        "serviceUserId",
    ]
)


@given(st.dictionaries(NAMES, JSON | st.dictionaries(NAMES, JSON, max_size=3)), st.booleans())
def test_any_body_is_read_or_refused_by_its_fields(body: dict[str, Any], for_code: bool) -> None:
    with suppress(InvalidArgument):
        asked = guest_request(body, TokenSettings(), for_code=for_code)
        assert asked.collection_id == body["collectionId"]
        assert asked.url or not for_code


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://a.example", "https://a.example?at=T"),
        ("https://a.example/x?b=1&flag#f", "https://a.example/x?b=1&flag&at=T#f"),
        ("https://a.example/?at=old&b=%20", "https://a.example/?b=%20&at=T"),
        (
            "https://b\u00fc.example/\u4e2d?q=%2F#\u00e9",
            "https://b%C3%BC.example/%E4%B8%AD?q=%2F&at=T#%C3%A9",
        ),
    ],
)
def test_the_token_is_a_parameter_of_the_url(url: str, expected: str) -> None:
    assert with_token(url, "T") == expected


@pytest.mark.parametrize(
    "url",
    [
        "",
        "a",
        "//a",
        "ftp://a",
        "javascript:x",
        "https://",
        "https:///x",
        "http://[",
        "http://a b",
        "http://a\n",
    ],
)
def test_what_is_no_http_url(url: str) -> None:
    assert not is_http_url(url)


def test_a_codes_name_tells_nothing_and_depends_on_the_service() -> None:
    names = {secret_name("studio", "abc"), secret_name("studi", "oabc"), secret_name("studio", "abd")}
    assert len(names) == 3
    assert all("abc" not in name and len(name) <= 63 for name in names)


def test_what_is_configured_comes_before_the_clusters_ingest() -> None:
    default = cluster_ingest("ns")
    assert IngestSettings().addresses("ns") == default
    assert default.rtmp_base_url == "rtmp://onair-ingest.ns.svc:1935/live"
    mixed = IngestSettings(srt_base_url="srt://in.example:9").addresses("ns")
    assert mixed == Ingest(default.rtmp_base_url, "srt://in.example:9")


@pytest.mark.parametrize(
    ("address", "base", "stream", "url"),
    [
        ({"rtmpPush": {}}, "rtmp://h/live", "K", "rtmp://h/live/K"),
        ({"srtPush": {}}, "srt://h:1?latency=200", "publish:K", "srt://h:1?latency=200&streamid=publish:K"),
    ],
)
def test_an_assigned_address(address: Any, base: str, stream: str, url: str) -> None:
    given = SourceAddress.model_validate(address)
    ingest = Ingest("rtmp://h/live/", "srt://h:1?latency=200")
    assigned = assigned_push(given, "K", ingest)
    assert assigned
    assert (assigned.base_url, assigned.stream, assigned.url) == (base, stream, url)
    keyless = assigned_push(given, None, ingest)
    assert keyless
    assert (keyless.base_url, keyless.stream, keyless.url) == (base, None, None)


def test_a_pulled_source_is_assigned_nothing() -> None:
    address = SourceAddress.model_validate({"rtmpPull": {"url": "rtmp://a.example/1"}})
    assert assigned_push(address, "K", cluster_ingest("ns")) is None
