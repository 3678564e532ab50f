"""Guest codes: short urls, where they lead, who sees them, how they end."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
from tests.support.event_client import WebSocket
from tests.support.facade import FacadeThread, Reachable, Show, StartFacade, StoredResources, User
from tests.support.tokens import (
    assert_error,
    claims_of,
    fields_of,
    invitation,
    invite,
    refresh,
    refreshed,
    seen_by,
    wait_for_status,
)
from tests.support.waiting import wait_for

from onair_api.settings import TokenSettings
from onair_crds.shapes import JsonObject

CODES = "/authentication/token/guest-code"
PAGE = "https://studio.example.org/join?room=1#top"


def make_code(user: User, show: Show, role: str = "GUEST", **body: Any) -> JsonObject:
    body = {"url": PAGE, **invitation(show, role, **body)}
    return user.ok("POST", CODES, body)["guestCode"]  # type: ignore[no-any-return]


def follow(facade: Reachable, url: str) -> httpx.Response:
    return facade.http.get(urlsplit(url).path)


def token_at(facade: Reachable, url: str) -> User:
    """The guest that a short url leads to its page."""
    response = follow(facade, url)
    assert response.status_code == 302, response.text
    assert response.headers["Cache-Control"] == "no-store"
    parts = urlsplit(response.headers["Location"])
    query = parse_qs(parts.query)
    assert (parts.scheme, parts.netloc, parts.path, parts.fragment, query["room"]) == (
        "https",
        "studio.example.org",
        "/join",
        "top",
        ["1"],
    )
    return User(facade, query["at"][0])


def test_a_token_with_a_url_comes_with_a_short_one(show: Show, second_facade: FacadeThread) -> None:
    response = show.user.ok("POST", "/authentication/token/guest", invitation(show, url=PAGE))
    service, code = urlsplit(response["url"]).path.removeprefix("/r/").split("/")
    assert (service, len(code)) == ("studio", 14)
    guest = token_at(show.user.facade, response["url"])
    assert guest.token == response["accessToken"]
    assert seen_by(guest, show).get()
    wait_for(lambda: follow(second_facade, response["url"]).status_code == 302, "the other replica knows")
    prefixed = show.user.facade.http.get(f"/live/v2/r/{service}/{code}")
    assert prefixed.headers["Location"] == follow(guest.facade, response["url"]).headers["Location"]


def test_a_code_is_read_listed_and_deleted(show: Show, second_facade: FacadeThread) -> None:
    code = make_code(show.user, show, exchange={"maxDuration": 3_600_000})
    assert set(code) == {
        "collectionId",
        "projectId",
        "code",
        "url",
        "linkUrl",
        "targetUrl",
        "role",
        "autoDelete",
    }
    assert (code["linkUrl"], code["targetUrl"], code["role"]) == (code["url"], PAGE, "ROLE_GUEST")
    guest = token_at(show.user.facade, code["url"])
    end = dt.datetime.fromtimestamp(claims_of(guest.token)["exp"], dt.UTC)
    assert dt.datetime.fromisoformat(code["autoDelete"]) == end
    assert code["autoDelete"].endswith("Z")
    path = f"{CODES}/{code['code']}"
    assert User(second_facade, show.user.token).ok("GET", path) == {"guestCode": code}
    assert show.get()["project"]["guestCodes"] == [code]
    session = refreshed(guest)
    assert show.user.ok("DELETE", path) == {}
    assert_error(show.user.call("GET", path), 404, 5)
    assert_error(show.user.call("DELETE", path), 404, 5)
    assert_error(follow(show.user.facade, code["url"]), 404, 5)
    assert show.get()["project"]["guestCodes"] == []
    for facade in (show.user.facade, second_facade):
        assert_error(refresh(guest, facade), 401, 16)
    assert session.ok("GET", show.path), "who is in stays"


def test_a_deleted_code_ends_its_direct_token_everywhere(show: Show, second_facade: FacadeThread) -> None:
    code = make_code(show.user, show)
    guest = token_at(show.user.facade, code["url"])
    assert guest.ok("GET", show.path)
    assert show.user.ok("DELETE", f"{CODES}/{code['code']}") == {}
    assert_error(guest.call("GET", show.path), 401, 16)
    wait_for_status(User(second_facade, guest.token), show.path, 401)


def test_a_deleted_code_ends_the_streams_of_its_token_too(show: Show, second_facade: FacadeThread) -> None:
    code = make_code(show.user, show)
    guest = token_at(show.user.facade, code["url"])
    with WebSocket(second_facade, guest.token) as stream:
        stream.subscribe("*")
        assert show.user.ok("DELETE", f"{CODES}/{code['code']}") == {}
        said = stream.next()["result"]
        assert said["reconnectBefore"]["reauthenticate"] is True
        assert stream.next()["error"]["code"] == 16
        assert stream.closed() == 1008


def test_a_code_without_a_kind_can_be_used_many_times(show: Show) -> None:
    body = {"collectionId": show.collection, "projectId": show.id, "url": PAGE}
    code = show.user.ok("POST", CODES, body)["guestCode"]
    for _ in range(2):
        assert refreshed(token_at(show.user.facade, code["url"])).ok("GET", show.path)
    assert fields_of(show.user.call("POST", CODES, {**body, "url": None})) == {"url"}


def test_codes_are_shown_to_hosts_and_co_hosts_alone(show: Show) -> None:
    code = make_code(show.user, show)
    for role in ("HOST", "COHOST"):
        assert seen_by(invite(show, role), show).get()["project"]["guestCodes"] == [code]
    for role in ("CONTRIBUTOR", "GUEST", "VIEWER", "RENDERER"):
        guest = invite(show, role)
        assert seen_by(guest, show).get()["project"]["guestCodes"] == []
        assert_error(guest.call("GET", f"{CODES}/{code['code']}"), 403, 7)
    (collection,) = show.user.ok("GET", "/collection")["collections"]
    assert collection["projects"][0]["guestCodes"] == [code]


def test_a_code_of_somebody_else_does_not_exist(
    show: Show, sign_in: Callable[..., User], resources: StoredResources
) -> None:
    code = make_code(show.user, show)
    sibling = show.user.project(show.collection)
    others = [sign_in(), sign_in(key=resources.add_api_key("elsewhere")), invite(sibling, "COHOST")]
    for other in others:
        for method in ("GET", "DELETE"):
            assert_error(other.call(method, f"{CODES}/{code['code']}"), 404, 5)
    facade = show.user.facade
    assert_error(facade.http.get(f"/r/elsewhere/{code['code']}"), 404, 5)
    assert_error(facade.http.get("/r/studio/nothing"), 404, 5)
    assert token_at(facade, code["url"])


def test_a_code_ends_with_its_project(show: Show, anna: User) -> None:
    code = make_code(anna, show)
    assert anna.ok("DELETE", show.path)
    assert_error(follow(anna.facade, code["url"]), 404, 5)
    assert_error(anna.call("GET", f"{CODES}/{code['code']}"), 404, 5)


def test_a_code_is_in_a_secret_that_goes_with_its_project(
    show: Show, resources: StoredResources, recorded_logs: Any
) -> None:
    code = make_code(show.user, show)
    token = token_at(show.user.facade, code["url"]).token
    codes = [s for s in resources.secrets() if s["type"] == "onair.dev/guest-code"]
    (secret,) = [s for s in codes if s["metadata"]["labels"].get("onair.dev/guest-code-of") == show.id]
    assert secret["immutable"]
    assert code["code"] not in str(secret["metadata"]), "it is named by a hash"
    (owner,) = secret["metadata"]["ownerReferences"]
    assert (owner["kind"], owner["name"]) == ("Project", show.id)
    show.user.ok("DELETE", f"{CODES}/{code['code']}")
    text = recorded_logs.getvalue()
    assert '"guest_code.deleted"' in text
    assert code["code"] not in text
    assert token not in text


@pytest.fixture
def sweeping(start_facade: StartFacade, facade: FacadeThread) -> Iterator[FacadeThread]:
    tokens = TokenSettings(sweep_interval_s=0.1)
    with start_facade(tokens=tokens) as sweeping:
        yield sweeping


def test_what_has_ended_is_swept_and_what_has_not_stays(
    show: Show, resources: StoredResources, sweeping: FacadeThread
) -> None:
    code = make_code(show.user, show)
    refreshed(invite(show))
    kept = {s["metadata"]["name"] for s in resources.secrets() if s["type"] in SWEPT}
    for type_ in SWEPT:
        name = f"ended-{show.id}-{type_.partition('/')[2]}"
        metadata = {"name": name, "annotations": {"onair.dev/expires": "2020-01-01T00:00:00Z"}}
        resources.add_secret(resources.shows, name, type_, {}, metadata=metadata)

    def names() -> set[str]:
        return {s["metadata"]["name"] for s in resources.secrets() if s["type"] in SWEPT}

    wait_for(lambda: not any(name.startswith(f"ended-{show.id}") for name in names()), "the sweep")
    assert kept <= names()
    assert token_at(show.user.facade, code["url"])


def test_a_code_past_its_end_is_not_found(show: Show, resources: StoredResources) -> None:
    """Also before it is swept: the sweep waits a minute, for clocks that differ."""
    brief = {"maxDuration": 1000}
    code = make_code(show.user, show, exchange=brief)
    assert follow(show.user.facade, code["url"]).status_code in (302, 404)
    wait_for(lambda: follow(show.user.facade, code["url"]).status_code == 404, "the code ends")
    assert_error(show.user.call("GET", f"{CODES}/{code['code']}"), 404, 5)
    assert show.get()["project"]["guestCodes"] == []


SWEPT = ("onair.dev/guest-code", "onair.dev/revoked-token")


def test_codes_are_listed_by_project_collection_and_role(
    anna: User, show: Show, sign_in: Callable[..., User]
) -> None:
    other = anna.project()
    first, second = make_code(anna, show), make_code(anna, show, "VIEWER")
    third = make_code(anna, other)

    def listed(user: User, query: str = "") -> list[JsonObject]:
        return user.ok("GET", CODES + query)["guestCodes"]  # type: ignore[no-any-return]

    assert [code["code"] for code in listed(anna)] == [each["code"] for each in (first, second, third)]
    assert listed(anna, f"?projectId={show.id}") == [first, second]
    assert listed(anna, f"?collectionId={other.collection}") == [third]
    assert listed(anna, f"?projectId={show.id}&role=ROLE_VIEWER") == [second]
    assert listed(anna, "?projectId=unknown") == []
    assert listed(invite(show, "COHOST")) == [first, second]
    assert listed(invite(show, "COHOST"), f"?projectId={other.id}") == []
    assert listed(sign_in()) == []
    assert_error(anna.call("GET", f"{CODES}?role=ROLE_OF_TOMORROW"), 400, 3)
