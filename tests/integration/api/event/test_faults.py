"""Redis away, Redis silent, the API server away, readers that do not read, clients that come and go."""

from __future__ import annotations

import contextlib
import json
import socket
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Self

import pytest
from tests.support.control_plane import ControlPlane
from tests.support.event_client import HttpStream, SignIn, WebSocket, events_of
from tests.support.facade import Cluster, Facade, User, wait_for
from tests.support.redis_server import RedisServer
from tests.support.seen import PREFIX, compare, new_shows

from onair_api.settings import EventSettings, RedisSettings

PUBLISH = "/event/v2/publish"


@pytest.fixture
def redis(tmp_path: Path) -> Iterator[RedisServer]:
    """A Redis that this test may break."""
    server = RedisServer(tmp_path)
    server.start()
    yield server
    with contextlib.suppress(Exception):
        server.thaw()
    server.stop()


@pytest.fixture
def own(rights: Path, cluster: Cluster, redis: RedisServer, recorded_logs: object) -> Iterator[Facade]:
    events = EventSettings(drain_s=0.1, backlog_events=50, stalled_after_s=1.0)
    with Facade(
        rights, cluster.shows, cluster.release, redis=RedisSettings(url=redis.url), events=events
    ) as facade:
        wait_for(lambda: facade.services.events.bus.connected, "Redis is connected")
        yield facade


def publishes(user: User, name: str = "e") -> bool:
    return user.call("POST", PUBLISH, {"name": name, "payload": {}}).is_success


def assert_refused_at_once(user: User) -> None:
    started = time.monotonic()
    answer = user.call("POST", PUBLISH, {"name": "e", "payload": {}})
    assert time.monotonic() - started < 1.5
    assert (answer.status_code, answer.json()["code"]) == (503, 14)
    assert int(answer.headers["Retry-After"]) > 0
    assert "127.0.0.1" not in answer.text


def test_redis_stopped_and_started(own: Facade, redis: RedisServer, sign_in: SignIn) -> None:
    host = sign_in(facade=own)
    with WebSocket(own, host.token) as socket:
        socket.subscribe()
        redis.stop()
        wait_for(lambda: not own.services.events.bus.connected, "the loss of Redis is noticed")
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


def test_redis_that_falls_silent_is_noticed(own: Facade, redis: RedisServer, sign_in: SignIn) -> None:
    host = sign_in(facade=own)
    with WebSocket(own, host.token) as socket:
        socket.subscribe()
        redis.freeze()
        started = time.monotonic()
        assert_refused_at_once(host)
        wait_for(lambda: not own.services.events.bus.connected, "silence is noticed", 5.5)
        assert time.monotonic() - started < 5.5
        assert_refused_at_once(host)
        host.collection()
        assert "COLLECTION" in events_of(socket, 1)[0]["event"]["name"]
        redis.thaw()
        wait_for(lambda: publishes(host, "after"), "publishing works again")
        names = []
        while not names or names[-1] != "after":
            names.append(events_of(socket, 1)[0]["event"]["name"])


@pytest.mark.parametrize("fault", ["stopped", "silent"])
def test_without_redis_every_subscriber_sees_what_is_stored(
    own: Facade,
    redis: RedisServer,
    sign_in: SignIn,
    rights: Path,
    cluster: Cluster,
    fault: str,
) -> None:
    """Two replicas, changes over HTTP on either and by kubectl, before, during and after."""
    settings: dict[str, Any] = {"redis": RedisSettings(url=redis.url), "events": EventSettings(drain_s=0.1)}
    with Facade(rights, cluster.shows, cluster.release, **settings) as other:
        shows = new_shows(sign_in(facade=own))
        beyond = User(other, shows[0].user.token)
        wait_for(lambda: beyond.call("GET", shows[-1].path).is_success, "both know them")

        def edit(round_: str) -> None:
            for number, show in enumerate(shows):
                user = (show.user, beyond)[number % 2]
                user.ok("PATCH", show.path, {"metadata": {round_: number}})
                if number % 3 == 0:
                    cluster.patch("projects", show.id, {"spec": {"metadata": {round_: -number}}})

        def change() -> None:
            edit("before")
            redis.stop() if fault == "stopped" else redis.freeze()
            edit("during")
            for each in (own, other):
                wait_for(lambda each=each: not each.services.events.bus.connected, "the loss is noticed")
            edit("noticed")
            shows.append(shows[0].user.project(shows[0].collection))
            shows[0].user.ok("DELETE", shows.pop(1).path)
            redis.start() if fault == "stopped" else redis.thaw()
            wait_for(lambda: publishes(shows[0].user), "publishing works again")
            edit("after")

        with WebSocket(own, shows[0].user.token) as here, WebSocket(other, shows[0].user.token) as there:
            for stream in (here, there):
                stream.subscribe(PREFIX)
            compare([here, there], shows, cluster, change)


def test_what_was_published_elsewhere_while_the_link_was_down_arrives(
    own: Facade, redis: RedisServer, sign_in: SignIn, rights: Path, cluster: Cluster
) -> None:
    host = sign_in(facade=own)
    settings: dict[str, Any] = {"redis": RedisSettings(url=redis.url), "events": EventSettings(drain_s=0.1)}
    with (
        Facade(rights, cluster.shows, cluster.release, **settings) as other,
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


def cut(bus: Any) -> None:
    """Breaks the subscriber's connection, as a network would."""
    writer = bus._link._connection._writer
    with contextlib.suppress(OSError):
        socket.socket(fileno=socket.dup(writer.get_extra_info("socket").fileno())).shutdown(socket.SHUT_RDWR)


def test_streams_outlive_the_api_server(
    own: Facade, control_plane: ControlPlane, cluster: Cluster, sign_in: SignIn
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
        cluster.patch("projects", show.id, {"spec": {"metadata": "after"}})
        update = events_of(stream, 1)[0]["event"]["payload"]["project"]["update"]
        assert update["project"] == show.get()["project"], "the subscriber's view is the cluster's"


def test_a_slow_reader_is_told_of_its_loss_and_goes_on(own: Facade, sign_in: SignIn) -> None:
    host = sign_in(facade=own)
    with WebSocket(own, host.token) as quick, RawStream(own, host) as slow:
        quick.subscribe()
        payload = {"x": "y" * 60_000}
        count, before = 0, dropped(own)
        while dropped(own) == before:
            assert host.call("POST", PUBLISH, {"name": f"e{count}", "payload": payload}).is_success
            assert quick.next()["result"]["event"]["name"] == f"e{count}", "others lose nothing"
            count += 1
            assert count < 2000
        messages = slow.read_until(lambda m: m["result"].get("error", {}).get("code") == 15)
        received = [m["result"]["event"]["name"] for m in messages if "event" in m["result"]]
        assert received == [f"e{n}" for n in range(len(received))], "in order up to the loss"
        assert host.call("POST", PUBLISH, {"name": "last", "payload": {}}).is_success
        messages = slow.read_until(lambda m: m["result"].get("event", {}).get("name") == "last")
        numbers = [int(m["result"]["event"]["name"][1:]) for m in messages[:-1] if "event" in m["result"]]
        assert numbers == sorted(numbers)


@pytest.mark.parametrize("transport", ["websocket", "http"])
def test_who_does_not_read_at_all_is_cut(own: Facade, sign_in: SignIn, transport: str) -> None:
    host = sign_in(facade=own)
    with RawStream(own, host, websocket=transport == "websocket"):
        payload = {"x": "y" * 60_000}

        def gone() -> bool:
            host.call("POST", PUBLISH, {"name": "e", "payload": payload})
            return own.services.events.streams.open_sessions == 0

        wait_for(gone, "the stream is cut", 30)


def test_a_thousand_sessions_come_and_go(own: Facade, sign_in: SignIn) -> None:
    host = sign_in(facade=own)
    streams = own.services.events.streams
    sizes = []
    for _ in range(2):
        opened = [RawStream(own, host) for _ in range(500)]
        wait_for(lambda: streams.open_sessions == 500, "all are open")
        for each in opened:
            each.close()
        wait_for(lambda: streams.open_sessions == 0, "all are gone")
        sizes.append(resident_bytes())
    assert streams.idle
    assert sizes[1] - sizes[0] < 15_000_000
    with HttpStream(own, host, ping="p") as lines:
        assert lines.next()["result"]["pong"] == "p"


def dropped(facade: Facade) -> float:
    for line in facade.http.get("/metrics").text.splitlines():
        if line.startswith('onair_api_events_dropped_total{reason="slow_reader"}'):
            return float(line.rsplit(" ", 1)[1])
    return 0.0


def resident_bytes() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096


class RawStream:
    """A subscriber that reads only when it is told to: no library reads ahead for it."""

    def __init__(self, facade: Facade, user: User, *, websocket: bool = True) -> None:
        host, port = facade.url.removeprefix("http://").split(":")
        self._socket = socket.socket()
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 16_384)
        self._socket.connect((host, int(port)))
        upgrade = (
            "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
            "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
        )
        self._socket.sendall(
            f"GET /event/v2/stream?subscribe.name=* HTTP/1.1\r\nHost: {host}\r\n"
            f"Authorization: Bearer {user.token}\r\n{upgrade if websocket else ''}\r\n".encode()
        )
        self._buffer = b""
        while b'"subscribed"' not in self._buffer:
            self._receive()
        self._buffer = b""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._socket.close()

    def read_until(self, wanted: Any) -> list[dict[str, Any]]:
        """Messages up to the first that is wanted."""
        messages = []
        while True:
            message = self._message()
            if message is None:
                continue
            messages.append(message)
            if wanted(message):
                return messages

    def _message(self) -> dict[str, Any] | None:
        """One frame of the server; None for a ping."""
        opcode = self._take(1)[0] & 0x0F
        size = self._take(1)[0]
        if size >= 126:
            size = int.from_bytes(self._take(2 if size == 126 else 8), "big")
        payload = self._take(size)
        return json.loads(payload) if opcode == 1 else None

    def _take(self, size: int) -> bytes:
        while len(self._buffer) < size:
            self._receive()
        taken, self._buffer = self._buffer[:size], self._buffer[size:]
        return taken

    def _receive(self) -> None:
        self._socket.settimeout(10)
        data = self._socket.recv(262_144)
        assert data, "the stream ended"
        self._buffer += data
