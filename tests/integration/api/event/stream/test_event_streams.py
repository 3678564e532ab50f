"""How streams end: expired tokens, limits, shutdown; many that come and go."""

from __future__ import annotations

import gc
import time
from collections import Counter
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from tests.support.event_client import PUBLISH, HttpStream, RawStream, SignIn, WebSocket
from tests.support.facade import FacadeThread, StartFacade, User, metric
from tests.support.redis_server import RedisServer
from tests.support.tokens import claims_of
from tests.support.waiting import wait_for

from onair_api.event.stream.fair_turns import AT_ONCE
from onair_api.settings import EventSettings, RedisSettings

DRAIN_S = 0.5


def test_a_stream_is_asked_to_reconnect_before_its_token_expires_and_ends_with_it(
    one: FacadeThread, sign_in: SignIn
) -> None:
    short = sign_in(facade=one, maxDuration=3000)
    expires = claims_of(short.token)["exp"]
    with WebSocket(one, short.token) as socket, HttpStream(one, short, sse=True) as sse:
        for stream in (socket, sse):
            before = stream.next()["result"]["reconnectBefore"]
            assert before["reauthenticate"] is True
            assert isinstance(before["beforeTimestamp"], str)
            assert int(before["beforeTimestamp"]) / 1000 == pytest.approx(expires, abs=0.001)
        for stream in (socket, sse):
            last = stream.next()
            assert (last["code"], last["error"]["code"]) == (16, 16)
        assert socket.closed() == 1008
        assert sse.ended()
    with WebSocket(one, short.token) as late:
        assert late.next()["code"] == 16, "another token may work"


def test_limits(start_facade: StartFacade, redis_server: RedisServer, sign_in: SignIn) -> None:
    events = EventSettings(
        drain_s=0.2, subscriptions_per_session=2, sessions_per_token=2, payload_bytes=100, prefix="studio"
    )
    redis = RedisSettings(url=redis_server.url)
    with start_facade(redis=redis, events=events) as facade:
        host = sign_in(facade=facade)
        with WebSocket(facade, host.token) as socket, WebSocket(facade, host.token):
            for name in ("a", "b", "a"):
                socket.subscribe(name)
            assert socket.ask(subscribe={"name": "c"})["error"]["code"] == 8
            with WebSocket(facade, host.token) as third:
                assert third.next()["code"] == 8
                assert third.closed() == 1008
            response = host.call("GET", "/event/v2/stream")
            assert response.status_code == 429
            assert int(response.headers["Retry-After"]) > 0
            with WebSocket(facade, sign_in(facade=facade).token) as another:
                assert another.ask(ping="a")["pong"] == "a"
            error = socket.ask(publish={"name": "a", "payload": {"x": "y" * 100}})["error"]
            assert "at most 100 bytes" in error["message"]
            socket.ask(unsubscribe={"name": "b"})
            socket.subscribe("studio:live:*COLLECTION*")
            host.collection()
            assert socket.next()["result"]["event"]["name"].startswith("studio:live:")

        def opens() -> bool:
            with WebSocket(facade, host.token, ping="x") as again:
                return "pong" in again.next().get("result", {})

        wait_for(opens, "streams that ended count no more")


def test_a_server_that_ends_asks_its_streams_to_reconnect(
    start_facade: StartFacade, redis_server: RedisServer, sign_in: SignIn
) -> None:
    redis = RedisSettings(url=redis_server.url)
    with start_facade(redis=redis, events=EventSettings(drain_s=DRAIN_S)) as facade:
        host = sign_in(facade=facade)
        socket, lines = WebSocket(facade, host.token), HttpStream(facade, host, ping="p")
        assert lines.next()["result"]["pong"] == "p"
        asked = time.time()
        facade.server.should_exit = True
        for stream in (socket, lines):
            before = stream.next()["result"]["reconnectBefore"]
            assert before["reauthenticate"] is False
            end = int(before["beforeTimestamp"]) / 1000 - DRAIN_S
            assert asked - 0.001 < end < time.time() + 0.001
        assert socket.closed() == 1012
        assert lines.ended()


def test_an_owners_streams_have_the_bandwidth_of_the_settings(
    start_facade: StartFacade, redis_server: RedisServer, sign_in: SignIn
) -> None:
    """One event takes the bandwidth of minutes, and the next one waits; what a stream asks is replied to."""
    events, redis = EventSettings(drain_s=0.2, bytes_per_owner_s=1), RedisSettings(url=redis_server.url)
    with (
        start_facade(redis=redis, events=events) as facade,
        ExitStack() as opened,
    ):
        wait_for(lambda: facade.bus.connected, "Redis is connected")
        host = sign_in(facade=facade)
        streams = [opened.enter_context(WebSocket(facade, host.token)) for _ in range(2 * AT_ONCE)]
        for each in streams:
            each.subscribe()
        before = metric(facade, 'onair_api_events_in_total{family="custom"}') or 0
        for name in ("a", "b"):
            host.ok("POST", PUBLISH, {"name": name, "payload": {}})
        wait_for(
            lambda: metric(facade, 'onair_api_events_in_total{family="custom"}') == before + 2,
            "both are here",
        )
        got = []
        for each in streams:
            each.send(ping="p")
            while "pong" not in (result := each.next()["result"]):
                got.append(result["event"]["name"])
        assert "a" in got
        assert "b" not in got


def test_metrics_and_logs(host: User, one: FacadeThread, recorded_logs: Any) -> None:
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
            value = metric(one, f"onair_api_{name}")
            assert value is not None, name
            assert value >= 1, name
    logged = recorded_logs.getvalue()
    assert host.token not in logged
    assert "hush-hush" not in logged


def test_a_thousand_sessions_come_and_go(own: FacadeThread, sign_in: SignIn) -> None:
    host = sign_in(facade=own)
    streams = own.services.events.streams
    sizes = []
    for _ in range(2):
        opened = [RawStream(own, host) for _ in range(500)]
        wait_for(lambda: streams.open_sessions == 500, "all are open")
        for each in opened:
            each.close()
        wait_for(lambda: streams.idle, "all are gone, and nothing is kept of them")
        sizes.append(resident_bytes())
    assert sizes[1] - sizes[0] < 15_000_000
    with HttpStream(own, host, ping="p") as lines:
        assert lines.next()["result"]["pong"] == "p"


def resident_bytes() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096


OF_A_STREAM = {"ServedConnection", "WebSocketConnection", "ServerProtocol", "WebSocketSender", "Session"}


def test_streams_that_have_ended_leave_nothing_that_has_to_be_collected(
    one: FacadeThread, sign_in: SignIn
) -> None:
    """What is in circles stays until a collection looks at it, which may be long."""
    user = sign_in(facade=one)

    def kept() -> Counter[str]:
        names = (type(each).__name__ for each in gc.get_objects())
        return Counter(name for name in names if name in OF_A_STREAM)

    def come_and_go() -> None:
        with WebSocket(one, user.token):
            pass

    come_and_go()
    gc.collect()
    gc.disable()
    try:
        before = kept()
        for _ in range(20):
            come_and_go()
        wait_for(lambda: not kept() - before, "nothing is left", state=lambda: kept() - before)
    finally:
        gc.enable()
