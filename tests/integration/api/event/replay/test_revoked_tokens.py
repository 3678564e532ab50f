"""Who comes back with a token that has ended gets nothing of its session, and its successor loses nothing."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import pytest
from tests.support.event_client import PUBLISH, HttpStream, SignIn, WebSocket, events_of
from tests.support.facade import FacadeThread, StoredResources, User
from tests.support.tokens import invite, refreshed
from tests.support.waiting import wait_for

from onair_crds.shapes import JsonObject

SECRETS = "/api/v1/namespaces/{}/secrets"


class EndedToken(NamedTuple):
    """A token, what ends it and gives its successor, and how something is published that both may hear."""

    user: User
    end: Callable[[], User]
    publish: Callable[[User], JsonObject]


@pytest.fixture(params=["its API key is deleted", "it is redeemed"])
def ended(
    request: pytest.FixtureRequest, resources: StoredResources, one: FacadeThread, sign_in: SignIn
) -> EndedToken:
    if request.param == "it is redeemed":
        host = sign_in(facade=one)
        show = host.project()
        guest = invite(show, "GUEST")
        event = {"name": "e", "payload": {}, "target": {"projectId": show.id}}
        return EndedToken(guest, lambda: refreshed(guest), lambda _: host.ok("POST", PUBLISH, event))
    service = f"breached-{secrets.token_hex(4)}"
    before = {each["metadata"]["name"] for each in resources.secrets(resources.release)}
    user = sign_in("anna", facade=one, key=resources.add_api_key(service))
    (name,) = {each["metadata"]["name"] for each in resources.secrets(resources.release)} - before

    def end() -> User:
        path = f"{SECRETS.format(resources.release)}/{name}"
        resources.admin.delete(path).raise_for_status()
        return sign_in("anna", facade=one, key=resources.add_api_key(service))

    return EndedToken(
        user, end, lambda successor: successor.ok("POST", PUBLISH, {"name": "e", "payload": {}})
    )


def is_refused(facade: FacadeThread, token: str) -> bool:
    return User(facade, token).call("GET", "/collection").status_code == 401


def test_a_token_that_has_ended_gets_nothing_of_its_session(
    ended: EndedToken, one: FacadeThread, two: FacadeThread
) -> None:
    token, session = ended.user.token, f"s-{secrets.token_hex(4)}"
    with WebSocket(one, token, sessionid=session) as socket:
        socket.subscribe("*UPDATE|e")
    streams = one.services.events.streams
    wait_for(lambda: not streams.open_sessions and not streams.closing_sessions, "the session is kept")
    successor = ended.end()
    for replica in (one, two):
        wait_for(partial(is_refused, replica, token), "the token has ended")
    ended.publish(successor)
    for replica in (one, two):
        with WebSocket(replica, token, sessionid=session) as socket:
            assert socket.next()["error"]["code"] == 7
            assert socket.closed() is not None
        with HttpStream(
            replica, ended.user, sse=False, **{"sessionId": session, "subscribe.name": "e"}
        ) as lines:
            assert lines.response.status_code == 401
            assert "result" not in lines.next()
    with WebSocket(one, successor.token, sessionid=session) as socket:
        socket.subscribe("*UPDATE|e")
        assert [each["event"]["name"] for each in events_of(socket, 1)] == ["e"]
        socket.assert_silent()
