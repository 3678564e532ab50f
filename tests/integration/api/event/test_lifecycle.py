"""How streams begin and end: tokens, limits, shutdown."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.support.event_client import HttpStream, SignIn, WebSocket
from tests.support.facade import Cluster, Facade, User, wait_for
from tests.support.redis_server import RedisServer

from onair_api.settings import EventSettings, RedisSettings

REFUSED = "You do not have permission to this resource"
PUBLISH = "/event/v2/publish"


@pytest.mark.parametrize("token", ["nonsense", None])
def test_a_token_that_never_works_is_told_so_on_the_stream(one: Facade, token: str | None) -> None:
    with WebSocket(one, token) as socket:
        error = {"code": 7, "message": REFUSED, "details": []}
        assert socket.next() == {"error": error, **error}
        assert socket.closed() == 1008
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    answer = one.http.get("/event/v2/stream", headers=headers)
    assert (answer.status_code, answer.json()["code"]) == (401, 16)


def test_a_head_of_a_stream_ends(host: User) -> None:
    answer = host.call("HEAD", "/event/v2/stream")
    assert (answer.status_code, answer.headers["content-type"]) == (200, "application/x-ndjson")


def test_a_token_without_the_right_is_told_so(one: Facade, api_key: str) -> None:
    answer = one.http.get("/live/v2/authentication/token/test", headers={"X-API-Key": api_key})
    token = answer.json()["accessToken"]
    with WebSocket(one, token) as socket:
        assert socket.next()["code"] == 7
        assert socket.closed() == 1008
    answer = one.http.get("/event/v2/stream", headers={"Authorization": f"Bearer {token}"})
    assert (answer.status_code, answer.json()["code"]) == (403, 7)
    answer = User(one, token).call("POST", PUBLISH, {"name": "a", "payload": {}})
    assert (answer.status_code, answer.json()["code"]) == (403, 7)


def test_a_stream_is_told_of_its_tokens_end_and_ends_with_it(one: Facade, sign_in: SignIn) -> None:
    short = sign_in(facade=one, maxDuration=2000)
    with WebSocket(one, short.token) as socket, HttpStream(one, short, sse=True) as sse:
        for stream in (socket, sse):
            before = stream.next()["result"]["reconnectBefore"]
            assert before["reauthenticate"] is True
            assert isinstance(before["beforeTimestamp"], str)
            assert 0 < int(before["beforeTimestamp"]) / 1000 - time.time() < 2
        for stream in (socket, sse):
            last = stream.next()
            assert (last["code"], last["error"]["code"]) == (16, 16)
        assert socket.closed() == 1008
        assert sse.ended()
    with WebSocket(one, short.token) as late:
        assert late.next()["code"] == 16, "another token may work"


def test_limits(
    rights: Path, cluster: Cluster, redis_server: RedisServer, sign_in: SignIn, recorded_logs: object
) -> None:
    events = EventSettings(
        drain_s=0.2, subscriptions_per_session=2, sessions_per_token=2, payload_bytes=100, prefix="studio"
    )
    redis = RedisSettings(url=redis_server.url)
    with Facade(rights, cluster.shows, cluster.release, redis=redis, events=events) as facade:
        host = sign_in(facade=facade)
        with WebSocket(facade, host.token) as socket, WebSocket(facade, host.token):
            for name in ("a", "b", "a"):
                socket.subscribe(name)
            assert socket.ask(subscribe={"name": "c"})["error"]["code"] == 8
            with WebSocket(facade, host.token) as third:
                assert third.next()["code"] == 8
                assert third.closed() == 1008
            answer = host.call("GET", "/event/v2/stream")
            assert answer.status_code == 429
            assert int(answer.headers["Retry-After"]) > 0
            with WebSocket(facade, sign_in(facade=facade).token) as another:
                assert another.ask(ping="a")["pong"] == "a"
            error = socket.ask(publish={"name": "a", "payload": {"x": "y" * 100}})["error"]
            assert "at most 100 bytes" in error["message"]
            socket.ask(unsubscribe={"name": "b"})
            socket.subscribe("studio:live:*COLLECTION*")
            host.collection()
            assert socket.next()["result"]["event"]["name"].startswith("studio:live:")

        def opens() -> bool:
            with WebSocket(facade, host.token) as again:
                return "pong" in again.next()["result"] if again.send(ping="x") is None else False

        wait_for(lambda: metric(facade, 'stream_sessions{transport="websocket"}') is not None, "metrics")
        assert opens()


def test_a_server_that_ends_asks_its_streams_to_move_on(
    rights: Path, cluster: Cluster, redis_server: RedisServer, sign_in: SignIn, recorded_logs: object
) -> None:
    redis = RedisSettings(url=redis_server.url)
    with Facade(
        rights, cluster.shows, cluster.release, redis=redis, events=EventSettings(drain_s=0.5)
    ) as facade:
        host = sign_in(facade=facade)
        socket, lines = WebSocket(facade, host.token), HttpStream(facade, host, ping="p")
        assert lines.next()["result"]["pong"] == "p"
        facade.server.should_exit = True
        for stream in (socket, lines):
            before = stream.next()["result"]["reconnectBefore"]
            assert before["reauthenticate"] is False
            assert 0 < int(before["beforeTimestamp"]) / 1000 - time.time() < 1
        assert socket.closed() == 1012
        assert lines.ended()


def test_metrics_and_logs(host: User, one: Facade, recorded_logs: Any) -> None:
    with WebSocket(one, host.token, way="query") as socket, HttpStream(one, host, sse=True):
        socket.subscribe()
        host.ok("POST", PUBLISH, {"name": "a", "payload": {"secret": "hush-hush"}})
        assert socket.next()["result"]["event"]["name"] == "a"
        for name in (
            'stream_sessions{transport="websocket"}',
            'stream_sessions{transport="sse"}',
            "stream_subscriptions",
            'events_in_total{family="custom"}',
            "events_out_total",
            "redis_connected",
        ):
            value = metric(one, name)
            assert value is not None, name
            assert value >= 1, name
    logged = recorded_logs.getvalue()
    assert host.token not in logged
    assert "hush-hush" not in logged


def metric(facade: Facade, name: str) -> float | None:
    for line in facade.http.get("/metrics").text.splitlines():
        if line.startswith(f"onair_api_{name} "):
            return float(line.rsplit(" ", 1)[1])
    return None


Check = Callable[[], bool]
