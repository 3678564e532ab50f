"""Redis unreachable, Redis silent, the API server unreachable: what streams go on to receive."""

from __future__ import annotations

import contextlib
import socket
import time
from functools import partial
from typing import Any

import pytest
from tests.support.control_plane import ControlPlane, free_port
from tests.support.event_client import PUBLISH, SignIn, WebSocket, events_of, publishes
from tests.support.facade import FacadeThread, StartFacade, StoredResources, User
from tests.support.redis_server import RedisServer
from tests.support.subscriber import PREFIX, compare, new_shows
from tests.support.waiting import wait_for

from onair_api.event.custom import redis_link
from onair_api.event.custom.bus import RESPONSE_TIMEOUT_S, EventBus
from onair_api.settings import EventSettings, RedisSettings

READ_TIMEOUT_S = 1.5


@pytest.fixture(autouse=True)
def notices_silence_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(redis_link, "READ_TIMEOUT_S", READ_TIMEOUT_S)
    monkeypatch.setattr(redis_link, "PING_INTERVAL_S", 0.4)


def assert_refused_at_once(user: User) -> None:
    started = time.monotonic()
    response = user.call("POST", PUBLISH, {"name": "e", "payload": {}})
    assert time.monotonic() - started < 2 * RESPONSE_TIMEOUT_S
    assert (response.status_code, response.json()["code"]) == (503, 14)
    assert int(response.headers["Retry-After"]) > 0
    assert "127.0.0.1" not in response.text


def test_redis_stopped_and_started(own: FacadeThread, redis: RedisServer, sign_in: SignIn) -> None:
    host = sign_in(facade=own)
    with WebSocket(own, host.token) as socket:
        socket.subscribe()
        redis.stop()
        wait_for(lambda: not own.bus.connected, "the loss of Redis is noticed")
        assert_refused_at_once(host)
        error = socket.ask(publish={"name": "e", "payload": {}}, correlationId="c")
        assert (error["error"]["code"], error["correlationId"]) == (14, "c")
        assert own.http.get("/readyz").is_success, "all else works"
        host.collection()
        assert "COLLECTION" in events_of(socket, 1)[0]["event"]["name"]
        with WebSocket(own, host.token) as late:
            late.subscribe("e")
            redis.start()
            wait_for(lambda: publishes(host), "publishing works again")
            for each in (socket, late):
                assert events_of(each, 1)[0]["event"]["name"] == "e"


def test_a_redis_that_falls_silent_is_noticed(own: FacadeThread, redis: RedisServer, sign_in: SignIn) -> None:
    host = sign_in(facade=own)
    with WebSocket(own, host.token) as socket:
        socket.subscribe()
        redis.freeze()
        assert_refused_at_once(host)
        wait_for(lambda: not own.bus.connected, "silence is noticed", 2 * READ_TIMEOUT_S)
        assert_refused_at_once(host)
        host.collection()
        assert "COLLECTION" in events_of(socket, 1)[0]["event"]["name"]
        redis.thaw()
        wait_for(lambda: publishes(host, "after"), "publishing works again")
        names: list[str] = []
        while not names or names[-1] != "after":
            names.append(events_of(socket, 1)[0]["event"]["name"])


@pytest.mark.parametrize("fault", ["stopped", "silent"])
def test_without_redis_every_subscriber_sees_what_is_stored(
    own: FacadeThread,
    redis: RedisServer,
    sign_in: SignIn,
    start_facade: StartFacade,
    resources: StoredResources,
    fault: str,
) -> None:
    """Two replicas, changes over HTTP on either and by kubectl, before, during and after."""
    settings: dict[str, Any] = {"redis": RedisSettings(url=redis.url), "events": EventSettings(drain_s=0.1)}
    with start_facade(**settings) as other:
        shows = new_shows(sign_in(facade=own))
        beyond = User(other, shows[0].user.token)
        wait_for(lambda: beyond.call("GET", shows[-1].path).is_success, "both know them")

        def edit(round_: str) -> None:
            for number, show in enumerate(shows):
                user = (show.user, beyond)[number % 2]
                user.ok("PATCH", show.path, {"metadata": {round_: number}})
                if number % 3 == 0:
                    resources.patch("projects", show.id, {"spec": {"metadata": {round_: -number}}})

        def is_cut_off(facade: FacadeThread) -> bool:
            return not facade.bus.connected

        def change() -> None:
            edit("before")
            redis.stop() if fault == "stopped" else redis.freeze()
            edit("during")
            for each in (own, other):
                wait_for(partial(is_cut_off, each), "the loss is noticed")
            edit("noticed")
            shows.append(shows[0].user.project(shows[0].collection))
            shows[0].user.ok("DELETE", shows.pop(1).path)
            redis.start() if fault == "stopped" else redis.thaw()
            wait_for(lambda: publishes(shows[0].user), "publishing works again")
            edit("after")

        with WebSocket(own, shows[0].user.token) as here, WebSocket(other, shows[0].user.token) as there:
            for stream in (here, there):
                stream.subscribe(PREFIX)
            compare([here, there], shows, resources, change)


def test_what_was_published_elsewhere_while_the_link_was_down_arrives(
    own: FacadeThread, redis: RedisServer, sign_in: SignIn, start_facade: StartFacade
) -> None:
    host = sign_in(facade=own)
    settings: dict[str, Any] = {"redis": RedisSettings(url=redis.url), "events": EventSettings(drain_s=0.1)}
    with (
        start_facade(**settings) as other,
        WebSocket(own, host.token) as stream,
    ):
        stream.subscribe()
        wait_for(lambda: publishes(User(other, host.token), "before"), "the other replica publishes")
        assert events_of(stream, 1)[0]["event"]["name"] == "before"
        bus = own.services.events.bus
        cut(bus)
        for number in range(5):
            assert publishes(User(other, host.token), f"e{number}")
        assert [r["event"]["name"] for r in events_of(stream, 5)] == [f"e{n}" for n in range(5)]
        stream.assert_silent()


def test_what_was_published_elsewhere_before_redis_was_first_reached_arrives(
    own: FacadeThread, redis: RedisServer, sign_in: SignIn, start_facade: StartFacade
) -> None:
    """A session is not kept waiting for Redis: what comes after it was subscribed is for it."""
    host = sign_in(facade=own)
    assert publishes(host, "before it was subscribed")
    port = free_port()
    settings: dict[str, Any] = {
        "redis": RedisSettings(url=f"redis://127.0.0.1:{port}"),
        "events": EventSettings(drain_s=0.1),
    }
    with (
        start_facade(**settings) as late,
        WebSocket(late, host.token) as stream,
    ):
        stream.subscribe()
        assert not late.bus.connected
        assert publishes(host, "missed")
        redis.listen_at(port)
        assert events_of(stream, 1)[0]["event"]["name"] == "missed"
        stream.assert_silent()


def cut(bus: Any) -> None:
    """Breaks the subscriber's connection, as a network would."""
    writer = bus._link._connection._writer
    with contextlib.suppress(OSError):
        socket.socket(fileno=socket.dup(writer.get_extra_info("socket").fileno())).shutdown(socket.SHUT_RDWR)


def test_streams_outlive_the_api_server(
    own: FacadeThread, control_plane: ControlPlane, resources: StoredResources, sign_in: SignIn
) -> None:
    host = sign_in(facade=own)
    show = host.project()
    with WebSocket(own, host.token) as stream:
        stream.subscribe("*PROJECT*")
        control_plane.stop_apiserver()
        try:
            assert publishes(host, "PROJECT goes on")
            assert events_of(stream, 1)[0]["event"]["name"] == "PROJECT goes on"
            # A target that the cache knows needs no API server.
            body = {"name": "PROJECT too", "payload": {}, "target": {"projectId": show.id}}
            assert host.call("POST", PUBLISH, body).is_success
            assert events_of(stream, 1)[0]["event"]["name"] == "PROJECT too"
            unknown = stream.ask(subscribe={"name": "*", "target": {"projectId": "unknown"}})
            assert unknown["error"]["code"] == 14
        finally:
            control_plane.start_apiserver()
        resources.patch("projects", show.id, {"spec": {"metadata": "after"}})
        (event,) = events_of(stream, 1)
        assert "update" in event["event"]["payload"]["project"], event
        update = event["event"]["payload"]["project"]["update"]
        assert update["project"] == show.get()["project"], "the subscriber's view is the cluster's"


def test_a_replica_that_listens_to_redis_no_more_is_started_again(
    redis: RedisServer, start_facade: StartFacade, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fails(_: object) -> None:
        raise LookupError

    with start_facade(redis=RedisSettings(url=redis.url)) as facade:
        assert facade.http.get("/healthz").is_success
        monkeypatch.setattr(EventBus, "_listen", fails)
        redis.stop()
        wait_for(lambda: facade.http.get("/healthz").status_code == 503, "the probe asks for a restart")
