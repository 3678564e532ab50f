"""API keys that come and go."""

from __future__ import annotations

from collections.abc import Callable

from tests.support.event_client import WebSocket
from tests.support.facade import FacadeThread, StoredResources, User
from tests.support.tokens import invite, refreshed
from tests.support.waiting import wait_for

TOKEN = "/live/v2/authentication/token"


def test_an_api_key_that_is_removed_ends(
    facade: FacadeThread, resources: StoredResources, sign_in: Callable[..., User]
) -> None:
    key = resources.add_api_key("short-lived")
    sign_in(key=key)
    resources.delete_api_key("short-lived")

    def refused() -> bool:
        return (
            facade.http.post(TOKEN, headers={"X-API-Key": key}, json={"serviceUserId": "a"}).status_code
            == 401
        )

    wait_for(refused, "the key is refused")


def test_with_an_api_key_end_its_tokens_and_streams_on_all_replicas(
    facade: FacadeThread,
    second_facade: FacadeThread,
    resources: StoredResources,
    sign_in: Callable[..., User],
) -> None:
    kept = sign_in()
    host = sign_in(key=resources.add_api_key("breached"))
    show = host.project()
    guest = refreshed(invite(show, "GUEST"))
    users = [User(each, user.token) for each in (facade, second_facade) for user in (host, guest)]
    for user in users:
        user.ok("GET", show.path)
    users.append(refreshed(host, second_facade))
    with WebSocket(second_facade, host.token) as stream:
        resources.delete_api_key("breached")
        wait_for(
            lambda: {user.call("GET", show.path).status_code for user in users} == {401}, "the tokens ended"
        )
        while "error" not in (message := stream.next()):
            assert "result" in message
        assert stream.closed() == 1008
    text = users[0].call("GET", show.path).json()["message"]
    assert "its API key was deleted" in text
    kept.collection()
