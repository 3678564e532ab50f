"""Events that a client missed are replayed when it comes back, on any replica, once and in order."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import ExitStack

import pytest
from redis import Redis
from tests.support.event_client import PUBLISH, HttpStream, WebSocket, events_of
from tests.support.facade import FacadeThread, StartFacade, User
from tests.support.redis_server import RedisServer
from tests.support.waiting import wait_for

from onair_api.settings import EventSettings, RedisSettings


@pytest.fixture
def session_id() -> str:
    return f"s-{secrets.token_hex(4)}"


def publish(user: User, name: str, **target: str) -> None:
    user.ok("POST", PUBLISH, {"name": name, "payload": {}, **({"target": target} if target else {})})


def left(facade: FacadeThread) -> None:
    """Waits until the replica has stored the sessions of its streams."""
    streams = facade.services.events.streams
    wait_for(lambda: not streams.open_sessions and not streams.closing_sessions, "the stream is closed")


def names(stream: WebSocket | HttpStream, count: int) -> list[str]:
    return [result["event"]["name"] for result in events_of(stream, count)]


@pytest.mark.parametrize("elsewhere", [False, True])
def test_the_gap_is_covered(
    host: User, one: FacadeThread, two: FacadeThread, session_id: str, *, elsewhere: bool
) -> None:
    show = host.project()
    with WebSocket(one, host.token, sessionid=session_id) as socket:
        socket.subscribe("e*|*PROJECT*UPDATE", projectId=show.id)
        publish(host, "e1", projectId=show.id)
        show.patch(metadata=1)
        assert sorted(names(socket, 2)) == ["apistream:live:EVENT_TYPE_PROJECT:EVENT_SUB_TYPE_UPDATE", "e1"]
    left(one)
    publish(host, "e2", projectId=show.id)
    publish(host, "other", projectId=show.id)
    publish(host, "e3", collectionId=show.collection)
    show.patch(metadata=2)
    publish(host, "e4", projectId=show.id)
    back = two if elsewhere else one
    with WebSocket(back, host.token, sessionid=session_id) as socket:
        socket.subscribe("e*|*PROJECT*UPDATE", projectId=show.id)
        missed = events_of(socket, 4)
        custom = [r["event"]["name"] for r in missed if r["event"]["name"].startswith("e")]
        assert custom == ["e2", "e3", "e4"]
        update = next(r["event"] for r in missed if not r["event"]["name"].startswith("e"))
        assert update["payload"]["project"]["update"]["project"]["metadata"] == 2
        publish(host, "e5", projectId=show.id)
        assert names(socket, 1) == ["e5"]
        socket.subscribe("e*")  # takes what was given already
        socket.assert_silent()
    with WebSocket(back, host.token, sessionid=f"{session_id}-other") as socket:
        socket.subscribe("e*")
        socket.assert_silent()


def test_only_what_the_session_subscribed_to_before_is_replayed(
    host: User, one: FacadeThread, two: FacadeThread, session_id: str
) -> None:
    with WebSocket(one, host.token, sessionid=session_id) as socket:
        socket.subscribe("a")
    left(one)
    for name in ("a", "b"):
        publish(host, name)
    with HttpStream(two, host, sse=False, **{"sessionId": session_id, "subscribe.name": "*"}) as lines:
        assert "subscribed" in lines.next()["result"]
        assert names(lines, 1) == ["a"]
        lines.assert_silent()


def test_another_users_session_of_the_same_id_gets_nothing(
    host: User, one: FacadeThread, session_id: str, sign_in: object
) -> None:
    with WebSocket(one, host.token, sessionid=session_id) as socket:
        socket.subscribe()
    left(one)
    publish(host, "a")
    stranger = sign_in(facade=one)  # type: ignore[operator]
    with WebSocket(one, stranger.token, sessionid=session_id) as socket:
        socket.subscribe()
        socket.assert_silent()


@pytest.fixture
def tiny(start_facade: StartFacade, redis_server: RedisServer, replicas: object) -> Iterator[FacadeThread]:
    """A replica that keeps three events, all kinds together."""
    events = EventSettings(drain_s=0.2, replay_events=3)
    redis = RedisSettings(url=redis_server.url)
    with start_facade(redis=redis, events=events) as facade:
        wait_for(lambda: facade.bus.connected, "Redis is connected")
        yield facade


def test_a_loss_is_reported(host: User, tiny: FacadeThread, session_id: str) -> None:
    user = User(tiny, host.token)
    show = user.project()
    with WebSocket(tiny, host.token, sessionid=session_id) as socket:
        socket.subscribe("*", projectId=show.id)
    left(tiny)
    with WebSocket(tiny, host.token) as another:
        another.subscribe("*PROJECT*UPDATE", projectId=show.id)
        for value in range(6):
            show.patch(metadata=value)
        events_of(another, 6)
    with WebSocket(tiny, host.token, sessionid=session_id) as socket:
        socket.send(subscribe={"name": "*", "target": {"projectId": show.id}})
        assert "subscribed" in socket.next()["result"]
        error = socket.next()["result"]["error"]
        assert error["code"] == 15
        assert error["message"].startswith("DATA_LOSS: ")
        values: list[int] = []
        while not values or values[-1] != 5:
            (result,) = events_of(socket, 1)
            values.append(result["event"]["payload"]["project"]["update"]["project"]["metadata"])
        assert values == list(range(values[0], 6)), "what is left comes once and in order"
        assert values[0] > 0


def test_a_client_that_is_sent_away_and_returns_at_once_misses_nothing(
    host: User, two: FacadeThread, session_id: str, start_facade: StartFacade, redis_server: RedisServer
) -> None:
    """Each of many streams of one user, as its replica ends."""
    settings = {"redis": RedisSettings(url=redis_server.url), "events": EventSettings(drain_s=0.2)}
    many = 40
    with (
        Redis.from_url(redis_server.url) as redis,
        start_facade(**settings) as ending,
        ExitStack() as opened,
    ):
        wait_for(lambda: ending.bus.connected, "Redis is connected")
        sockets = [
            opened.enter_context(WebSocket(ending, host.token, sessionid=f"{session_id}-{number}"))
            for number in range(many)
        ]
        for socket in sockets:
            socket.subscribe("e*")
        ending.server.should_exit = True
        for number, socket in enumerate(sockets):
            assert "reconnectBefore" in socket.next()["result"]
            assert socket.closed() == 1012
            assert list(redis.scan_iter(f"onair:session:*:{session_id}-{number}")), "it is there already"
        publish(host, "e1")
        with WebSocket(two, host.token, sessionid=f"{session_id}-0") as socket:
            socket.subscribe("e*")
            assert names(socket, 1) == ["e1"]


def test_a_connection_that_breaks_before_it_subscribes_misses_nothing(
    host: User, one: FacadeThread, two: FacadeThread, session_id: str
) -> None:
    with WebSocket(one, host.token, sessionid=session_id) as socket:
        socket.subscribe("e")
    left(one)
    publish(host, "e")
    with WebSocket(two, host.token, sessionid=session_id) as socket:
        assert socket.ask(ping="on")["pong"] == "on"
    left(two)
    with WebSocket(one, host.token, sessionid=session_id) as socket:
        socket.subscribe("e")
        assert names(socket, 1) == ["e"]
        socket.assert_silent()


def test_a_replica_that_started_too_late_reports_the_loss(
    host: User, one: FacadeThread, session_id: str, start_facade: StartFacade, redis_server: RedisServer
) -> None:
    """What was published is in Redis for it; what changed before it began is not."""
    show = host.project()
    with WebSocket(one, host.token, sessionid=session_id) as socket:
        socket.subscribe("e*|*PROJECT*", projectId=show.id)
    left(one)
    publish(host, "e1", projectId=show.id)
    show.patch(metadata="missed")
    settings = {"redis": RedisSettings(url=redis_server.url), "events": EventSettings(drain_s=0.2)}
    with start_facade(**settings) as young:
        wait_for(lambda: young.bus.connected, "Redis is connected")
        with WebSocket(young, host.token, sessionid=session_id) as socket:
            socket.subscribe("e*|*PROJECT*", projectId=show.id)
            assert socket.next()["result"]["error"]["code"] == 15
            assert names(socket, 1) == ["e1"]
            socket.assert_silent()
