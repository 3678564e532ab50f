"""Requests of token operations: what is read, what is refused."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.token_issuer import DAY_MS

from onair_api.auth.guest_links import GuestLinks
from onair_api.auth.verified_token import TokenKind
from onair_api.errors import InvalidArgument
from onair_api.live.authentication.requests import backend_request, guest_request
from onair_api.settings import GuestLinkSettings, TokenSettings
from onair_crds.contract.inside_addresses import InsideRules
from onair_crds.shapes import JsonObject

SETTINGS = TokenSettings(default_duration_ms=DAY_MS)


@pytest.mark.parametrize(
    ("body", "fields"),
    [
        ({}, ["serviceUserId"]),
        ({"serviceUserId": ""}, ["serviceUserId"]),
        ({"serviceUserId": "a b"}, ["serviceUserId"]),
        ({"serviceUserId": 5}, ["serviceUserId"]),
        ({"serviceUserId": "a" * 257}, ["serviceUserId"]),
        ({"serviceUserId": "a", "displayName": []}, ["displayName"]),
        ({"serviceUserId": "a", "role": "HOST"}, ["role"]),
        ({"serviceUserId": "a", "maxDuration": 0}, ["maxDuration"]),
        ({"serviceUserId": "a", "maxDuration": 604_800_001}, ["maxDuration"]),
        ({"serviceUserId": "a", "maxDuration": "x"}, ["maxDuration"]),
        ({"serviceUserId": "a", "maxDuration": True}, ["maxDuration"]),
        ({"role": "x", "maxDuration": -1}, ["serviceUserId", "role", "maxDuration"]),
    ],
)
def test_a_wrong_request_names_every_field(body: JsonObject, fields: list[str]) -> None:
    with pytest.raises(InvalidArgument) as caught:
        backend_request(body, SETTINGS)
    assert [v.field for v in caught.value.violations] == fields


LINKS = GuestLinks(GuestLinkSettings(), InsideRules())
IDS = {"collectionId": "c", "projectId": "p"}


def test_both_forms_of_the_select_one_mean_the_same() -> None:
    settings = TokenSettings()
    options = {"displayName": "Ben", "service_user_id": "ben"}
    beside = guest_request({**IDS, "direct": options}, settings, LINKS)
    assert beside == guest_request({**IDS, "token": {"direct": options}}, settings, LINKS)
    assert (beside.kind, beside.display_name, beside.service_user_id) == (TokenKind.DIRECT, "Ben", "ben")


@pytest.mark.parametrize("for_code", [False, True])
@pytest.mark.parametrize("token", [{"direct": {}}, {"exchange": {}}, {}])
@pytest.mark.parametrize("kind", ["direct", "exchange"])
def test_one_form_beside_the_other_is_refused(token: JsonObject, kind: str, for_code: bool) -> None:
    body = {**IDS, "url": "https://studio.example.org/join", "token": token, kind: {}}
    with pytest.raises(InvalidArgument) as refused:
        guest_request(body, TokenSettings(), LINKS, for_code=for_code)
    assert [each.field for each in refused.value.violations] == ["token"]


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
def test_any_body_is_read_or_refused_by_its_fields(body: JsonObject, for_code: bool) -> None:
    with suppress(InvalidArgument):
        asked = guest_request(body, TokenSettings(), LINKS, for_code=for_code)
        assert asked.collection_id == body["collectionId"]
        assert asked.url or not for_code
