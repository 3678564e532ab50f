"""Guest tokens: what they say, reach, and end with; redemption on two replicas."""

from __future__ import annotations

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest
from tests.support.facade import FacadeThread, Show, StoredResources, User
from tests.support.tokens import (
    assert_error,
    claims_of,
    fields_of,
    forged,
    invitation,
    invite,
    private_key,
    refresh,
    refreshed,
    seen_by,
    wait_for_status,
)

from onair_crds.shapes import JsonObject

GUEST = "/authentication/token/guest"


def test_a_guest_token_says_which_project_it_is_for(show: Show) -> None:
    guest = invite(show, "COHOST", direct={"displayName": "Ben", "serviceUserId": "ben"})
    claims = claims_of(guest.token)
    control = {"collectionId": show.collection, "projectId": show.id, "role": "ROLE_COHOST"}
    assert claims["guestControl"] == control
    assert (claims["role"], claims["scopes"]) == ("ROLE_COHOST", [])
    user = claims["user"]
    assert (user["displayName"], user["serviceUserId"], user["serviceId"]) == ("Ben", "ben", "studio")
    assert (user["trial"], user["demo"], user["userId"]) == (False, False, claims["sub"])


def test_a_guest_is_nobody_elses_user_whatever_the_issuer_calls_him(show: Show) -> None:
    host = claims_of(show.user.token)
    named = host["user"]["serviceUserId"]
    guest = invite(show, "COHOST", direct={"displayName": "Anna", "serviceUserId": named})
    assert claims_of(guest.token)["sub"] != host["sub"]
    assert_error(guest.call("GET", f"/collection/{show.collection}"), 403, 7)


def test_what_is_left_out_gets_its_default(show: Show) -> None:
    flat = {"collectionId": show.collection, "projectId": show.id, "direct": {}}  # which HTTP alone takes
    claims = claims_of(show.user.ok("POST", GUEST, content=json.dumps(flat))["accessToken"])
    assert claims["role"] == "ROLE_GUEST"
    body = {"collectionId": show.collection, "projectId": show.id, "token": {"exchange": {}}}
    claims = claims_of(show.user.ok("POST", GUEST, body)["accessToken"])
    assert claims["exp"] == claims_of(show.user.token)["exp"], "two days, or as long as the issuer"


@pytest.mark.parametrize(
    ("change", "fields"),
    [
        ({"collectionId": None}, {"collectionId"}),
        ({"projectId": ""}, {"projectId"}),
        ({"token": None}, {"token"}),
        ({"token": None, "direct": {}, "exchange": {}}, {"token"}),
        ({"token": None, "direct": {"displayName": 5}}, {"direct.displayName"}),
        ({"token": {"direct": {"serviceUserId": "a b"}}}, {"token.direct.serviceUserId"}),
        ({"token": None, "direct": "yes"}, {"direct"}),
        ({"token": None, "exchange": {"maxDuration": 0}}, {"exchange.maxDuration"}),
        ({"token": {"exchange": {"maxDuration": 0}}}, {"token.exchange.maxDuration"}),
        ({"token": {"exchange": {"maxDuration": "x"}}}, {"token.exchange.maxDuration"}),
        ({"token": []}, {"token"}),
        ({"maxDuration": 604_800_001, "role": "GUEST"}, {"maxDuration", "role"}),
        ({"url": "javascript:alert(1)"}, {"url"}),
        ({"url": "https://a.example/\r\nX: y"}, {"url"}),
        ({"url": "//a.example"}, {"url"}),
        ({"url": 5}, {"url"}),
    ],
)
def test_a_wrong_request_names_every_field(show: Show, change: JsonObject, fields: set[str]) -> None:
    assert fields_of(show.user.call("POST", GUEST, {**invitation(show), **change})) == fields


def test_a_guest_reaches_its_project_and_nothing_beside(
    show: Show, sign_in: Callable[..., User], resources: StoredResources
) -> None:
    guest = invite(show, "COHOST")
    assert seen_by(guest, show).get()["project"]["projectId"] == show.id
    sibling, stranger = show.user.project(show.collection), sign_in().project()
    for other in (sibling, stranger):
        assert_error(guest.call("GET", other.path), 404, 5)
        assert_error(guest.call("PATCH", other.path, {"metadata": 1}), 404, 5)
        assert_error(guest.call("POST", f"{other.path}/destination", {}), 404, 5)
        assert_error(guest.call("POST", GUEST, invitation(other)), 404, 5)
    moved = f"/collection/{stranger.collection}/project/{show.id}"
    assert_error(guest.call("GET", moved), 404, 5)
    elsewhere = sign_in(key=resources.add_api_key("elsewhere"))
    key, _ = private_key(resources)
    control = claims_of(guest.token)["guestControl"]
    intruder = forged(elsewhere, key, role="ROLE_COHOST", guestControl=control)
    assert_error(intruder.call("GET", show.path), 404, 5)


def test_a_guest_lists_the_layouts_of_its_project_alone(show: Show) -> None:
    """Also one whom the issuer gave the id of the collection's owner."""
    named = claims_of(show.user.token)["user"]["serviceUserId"]
    guest = invite(show, "CONTRIBUTOR", direct={"serviceUserId": named})
    sibling = show.user.project(show.collection)
    own, other = (
        show.user.ok("POST", "/layout/v2/layouts", {"collectionId": show.collection, "projectId": each.id})
        for each in (show, sibling)
    )
    layouts = "/layout/v2/layouts"
    assert len(show.user.listed(layouts)) == 2
    for query in ("", f"?projectId={show.id}", f"?collectionId={show.collection}"):
        assert [each["id"] for each in guest.listed(layouts + query)] == [own["id"]]
    assert guest.listed(f"{layouts}?projectId={sibling.id}") == []
    assert_error(guest.call("GET", f"{layouts}/{other['id']}"), 404, 5)


@pytest.mark.parametrize(
    ("issuer", "highest"),
    [
        ("HOST", ["HOST", "COHOST", "CONTRIBUTOR", "GUEST", "VIEWER", "RENDERER"]),
        ("COHOST", ["COHOST", "CONTRIBUTOR", "GUEST", "VIEWER", "RENDERER"]),
        ("CONTRIBUTOR", ["CONTRIBUTOR", "GUEST", "VIEWER"]),
        ("GUEST", []),
        ("VIEWER", []),
        ("RENDERER", []),
    ],
)
def test_nobody_issues_more_than_he_holds(show: Show, issuer: str, highest: list[str]) -> None:
    user = show.user if issuer == "HOST" else invite(show, issuer)
    every = ["HOST", "COHOST", "CONTRIBUTOR", "GUEST", "VIEWER", "RENDERER", "PLATFORM", "IMPERSONATE"]
    for role in every:
        response = user.call("POST", GUEST, invitation(show, role))
        assert response.status_code == (200 if role in highest else 403), (issuer, role, response.text)


def test_a_guest_who_is_host_is_no_owner(show: Show) -> None:
    """Their token names one project, so what speaks of collections is not for them."""
    guest = invite(show, "HOST")
    seen_by(guest, show).patch(metadata="theirs")
    assert_error(guest.call("GET", "/collection"), 403, 7)
    assert_error(guest.call("POST", "/collection", {}), 403, 7)
    assert_error(guest.call("DELETE", show.path), 403, 7)


def test_a_guests_token_does_not_outlive_its_issuers(show: Show, sign_in: Callable[..., User]) -> None:
    brief = sign_in(maxDuration=600_000)
    own = brief.project()
    end = claims_of(brief.token)["exp"]
    assert claims_of(invite(own).token)["exp"] == end
    assert claims_of(invite(own, maxDuration=60_000).token)["exp"] < end
    assert claims_of(invite(own).token)["auth_time"] == claims_of(brief.token)["auth_time"]
    exchange = invite(own, exchange={"maxDuration": 3_600_000})
    assert claims_of(exchange.token)["exp"] == end
    assert claims_of(invite(own, exchange={"maxDuration": 60_000}).token)["exp"] < end


def test_a_guests_link_lasts_two_days_where_nothing_else_is_asked_for(
    show: Show, sign_in: Callable[..., User]
) -> None:
    lasting = sign_in(maxDuration=604_800_000).project()
    claims = claims_of(invite(lasting, exchange={}).token)
    assert claims["exp"] - claims["iat"] == 172_800


def test_a_guests_invitations_do_not_prolong_his_own_stay(show: Show, resources: StoredResources) -> None:
    key, _ = private_key(resources)
    guest = invite(show, "COHOST", maxDuration=604_800_000)
    claims = claims_of(guest.token)
    six_days = 6 * 86_400
    late = forged(guest, key, auth_time=claims["auth_time"] - six_days, kind="session")
    last = claims["auth_time"] - six_days + 604_800
    kinds: list[JsonObject] = [{"direct": {}}, {"exchange": {"maxDuration": 604_800_000}}]
    for kind in kinds:
        token = invite(show, "COHOST", by=late, maxDuration=604_800_000, **kind)
        assert claims_of(token.token)["exp"] <= last
        assert claims_of(refreshed(token).token)["exp"] <= last


def test_a_direct_token_works_until_its_first_refresh(show: Show, second_facade: FacadeThread) -> None:
    guest = invite(show, "CONTRIBUTOR", maxDuration=3_600_000)
    elsewhere = User(second_facade, guest.token)
    assert elsewhere.ok("GET", show.path)
    session = refreshed(guest)
    before, after = claims_of(guest.token), claims_of(session.token)
    for name in ("user", "role", "scopes", "guestControl", "sub"):
        assert after[name] == before[name]
    assert after["jti"] != before["jti"]
    assert after["exp"] - after["iat"] == 3600
    assert_error(guest.call("GET", show.path), 401, 16)
    assert_error(refresh(guest), 401, 16)
    assert_error(refresh(guest, second_facade), 401, 16)
    assert_error(wait_for_status(elsewhere, show.path, 401), 401, 16)
    again = refreshed(session, second_facade)
    assert again.ok("GET", show.path)
    assert session.ok("GET", show.path)


def test_of_many_refreshes_of_a_direct_token_one_wins(show: Show, second_facade: FacadeThread) -> None:
    guest = invite(show)
    facades = [guest.facade, second_facade] * 8
    with ThreadPoolExecutor(16) as pool:
        responses = list(pool.map(lambda facade: refresh(guest, facade), facades))
    assert sorted(a.status_code for a in responses) == [200] + [401] * 15


def test_an_exchange_token_is_good_for_refreshes_alone(show: Show, second_facade: FacadeThread) -> None:
    token = invite(show, "RENDERER", exchange={"maxDuration": 600_000}, maxDuration=7_200_000)
    assert claims_of(token.token)["exp"] - claims_of(token.token)["iat"] == 600
    for facade in (token.facade, second_facade):
        assert_error(User(facade, token.token).call("GET", show.path), 401, 16)
        sessions = [refreshed(token, facade) for _ in range(3)]
        for session in sessions:
            assert claims_of(session.token)["exp"] - claims_of(session.token)["iat"] == 7200
            assert claims_of(session.token)["role"] == "ROLE_RENDERER"
            assert session.ok("GET", show.path)
    assert_error(token.call("POST", GUEST, invitation(show)), 401, 16)


def test_an_exchange_token_ends(show: Show, resources: StoredResources) -> None:
    key, _ = private_key(resources)
    token = invite(show, exchange={})
    claims = claims_of(token.token)
    ended = forged(token, key, iat=claims["iat"] - 200_000, exp=claims["iat"] - 100)
    assert_error(refresh(ended), 401, 16)


def test_a_guests_token_ends_with_its_project(show: Show, second_facade: FacadeThread) -> None:
    direct, exchange = invite(show), invite(show, exchange={})
    session = refreshed(invite(show))
    assert show.user.ok("DELETE", show.path)
    for guest in (direct, exchange, session):
        assert_error(refresh(guest), 401, 16)
    assert_error(session.call("GET", show.path), 404, 5)


def test_an_impersonator_acts_for_another_user_and_sees_no_secret(
    anna: User, sign_in: Callable[..., User], resources: StoredResources
) -> None:
    show = anna.project()
    show.destination()
    name = claims_of(anna.token)["user"]["serviceUserId"]
    support = sign_in(name, role="ROLE_IMPERSONATE")
    (collection,) = support.ok("GET", "/collection")["collections"]
    assert collection["collectionId"] == show.collection
    address = seen_by(support, show).get()["project"]["destinations"][0]["address"]
    assert "key" not in address["rtmpPush"]
    seen_by(support, show).patch(metadata="helped")
    assert_error(support.call("POST", GUEST, invitation(show)), 403, 7)
    stranger = sign_in(name, role="ROLE_IMPERSONATE", key=resources.add_api_key("elsewhere"))
    assert_error(stranger.call("GET", show.path), 404, 5)
