"""Tokens that a call ends, on all replicas, with what goes back to them and nothing else."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Iterator

import httpx
import pytest
from tests.support.event_client import WebSocket
from tests.support.facade import FacadeThread, StartFacade, StoredResources, User
from tests.support.tokens import (
    TOKEN,
    assert_error,
    claims_of,
    forged,
    invitation,
    invite,
    private_key,
    refresh,
    refreshed,
)
from tests.support.waiting import wait_for

from onair_api.settings import QuotaSettings

WITHIN_S = 5.0
REVOKE = f"{TOKEN}/revoke"


def end(user: User) -> None:
    """By who has the token."""
    response = user.call("DELETE", "/authentication/token")
    assert (response.status_code, response.json()) == (200, {}), response.text


def is_refused(user: User) -> bool:
    response = user.call("GET", "/collection")
    return response.status_code == 401 and "it was revoked" in response.text


def assert_all_end(users: list[User]) -> None:
    began = time.monotonic()
    wait_for(lambda: all(is_refused(each) for each in users), "the tokens have ended")
    assert time.monotonic() - began < WITHIN_S


def test_a_call_ends_a_token_and_what_goes_back_to_it_on_all_replicas(
    facade: FacadeThread, second_facade: FacadeThread, sign_in: Callable[..., User]
) -> None:
    host = sign_in("anna")
    other_login = sign_in("anna")
    show = host.project()
    successor = refreshed(host, second_facade)
    cohost = invite(show, "COHOST", by=successor)
    guest = invite(show, "GUEST", by=cohost)
    tokens = [each.token for each in (host, successor, cohost, refreshed(cohost), guest)]
    users = [User(replica, token) for token in tokens for replica in (facade, second_facade)]
    with WebSocket(second_facade, guest.token) as stream:
        end(successor)
        assert_all_end(users)
        while "error" not in stream.next():
            pass
        assert stream.closed() == 1008
    for user in users:
        assert refresh(user).status_code == 401
    other_login.ok("GET", show.path)


def test_a_guest_ends_their_own_token_and_nobody_elses(
    second_facade: FacadeThread, sign_in: Callable[..., User]
) -> None:
    host = sign_in()
    show = host.project()
    guest, another = (invite(show, "GUEST") for _ in range(2))
    successor = refreshed(guest)
    end(successor)
    assert_all_end([successor, User(second_facade, successor.token)])
    for each in (host, another):
        each.ok("GET", show.path)


def test_a_redeemed_token_leaves_its_successor(sign_in: Callable[..., User]) -> None:
    show = sign_in().project()
    guest = invite(show, "GUEST")
    successor = refreshed(guest)
    assert refresh(guest).status_code == 401
    successor.ok("GET", show.path)


def test_a_token_for_a_session_is_ended_before_it_was_redeemed(sign_in: Callable[..., User]) -> None:
    show = sign_in().project()
    invited = invite(show, "GUEST", exchange={})
    session = refreshed(invited)
    end(invited)
    assert_all_end([session])
    assert refresh(invited).status_code == 401


def test_a_backend_ends_tokens_of_its_service(
    facade: FacadeThread,
    second_facade: FacadeThread,
    resources: StoredResources,
    sign_in: Callable[..., User],
) -> None:
    key, strange = resources.add_api_key("revoking"), resources.add_api_key("strange")
    host = sign_in(key=key)
    show = host.project()
    guest = invite(show, "GUEST")

    def revoke(body: object, api_key: str = key) -> httpx.Response:
        return facade.http.post(REVOKE, headers={"X-API-Key": api_key}, json=body)

    wait_for(lambda: revoke({"accessToken": "x"}, strange).status_code == 400, "the other key is known")
    for body, by in (({"accessToken": host.token}, strange), ({"accessToken": "x.y.z"}, key), ({}, key)):
        response = revoke(body, by)
        assert_error(response, 400, 3)
        assert "accessToken" in response.text
        assert host.token not in response.text
    host.ok("GET", show.path)
    pem, _ = private_key(resources)
    expired = forged(host, pem, exp=claims_of(host.token)["iat"] + 1)
    assert revoke({"accessToken": expired.token}).status_code == 200
    assert_all_end([host, guest, User(second_facade, host.token)])


def test_a_token_from_before_lineages_is_ended_with_its_successors(
    resources: StoredResources, sign_in: Callable[..., User]
) -> None:
    pem, _ = private_key(resources)
    old = forged(sign_in(), pem, lineage=None)
    assert claims_of(old.token)["lineage"] is None
    successor = refreshed(old)
    end(successor)
    assert_all_end([old, successor])


@pytest.mark.parametrize("lineage", ["text", [], [1], {}])
def test_a_lineage_that_is_none_is_refused(
    lineage: object, resources: StoredResources, sign_in: Callable[..., User]
) -> None:
    pem, _ = private_key(resources)
    assert forged(sign_in(), pem, lineage=lineage).call("GET", "/collection").status_code == 401


def test_invitations_of_invitations_end_somewhere(sign_in: Callable[..., User]) -> None:
    show = sign_in().project()
    guest = show.user
    for _ in range(15):
        guest = invite(show, "COHOST", by=guest)
    assert_error(guest.call("POST", "/authentication/token/guest", invitation(show)), 403, 7)


@pytest.fixture(scope="module")
def sparing(start_facade: StartFacade) -> Iterator[FacadeThread]:
    """A replica on which a service may have two revoked tokens."""
    default = QuotaSettings()
    per_service = default.per_service.model_copy(update={"revoked_tokens": 2})
    with start_facade(quotas=default.model_copy(update={"per_service": per_service})) as facade:
        yield facade


def test_a_service_revokes_so_many_tokens_and_with_its_key_as_many_again(
    sparing: FacadeThread, resources: StoredResources, sign_in: Callable[..., User]
) -> None:
    key = resources.add_api_key(f"revoking-{secrets.token_hex(3)}")
    host = sign_in(key=key, facade=sparing)
    show = host.project()
    guest, waiting = (invite(show, "GUEST") for _ in range(2))
    refreshed(guest)
    end(sign_in(key=key, facade=sparing))
    full = "api.quotas.perService.revokedTokens is 2, of which 2 are in use"
    code = {"collectionId": show.collection, "projectId": show.id, "url": "https://a.example/"}
    for response in (
        refresh(waiting),
        sign_in(key=key, facade=sparing).call("DELETE", "/authentication/token"),
        host.call("POST", "/authentication/token/guest-code", code),
    ):
        assert_error(response, 429, 8)
        assert full in response.text
    assert_error(refresh(guest), 401, 16)
    waiting.ok("GET", show.path)

    def revoke(user: User) -> httpx.Response:
        body = {"accessToken": user.token}
        return sparing.http.post(REVOKE, headers={"X-API-Key": key}, json=body)

    for user in (waiting, sign_in(key=key, facade=sparing)):
        assert revoke(user).status_code == 200
    assert_all_end([waiting])
    assert revoke(waiting).status_code == 200, "it is revoked already"
    assert_error(revoke(host), 429, 8)
    sign_in(facade=sparing).project()
