"""Clients that are slow, silent, or read nothing hold no connection for ever."""

from __future__ import annotations

import contextlib
import socket
import time
from collections.abc import Iterator

import pytest
from tests.support.event_client import SignIn
from tests.support.facade import FacadeThread, StartFacade, User, metric
from tests.support.waiting import POLL_S, wait_for

from onair_api.auth import response_bytes
from onair_api.connection import http_connection

LARGE = "x" * 200_000
PROJECTS = 40
"""With one of these as metadata each: together more than the buffers of two sockets."""


@pytest.fixture
def strict(start_facade: StartFacade, monkeypatch: pytest.MonkeyPatch) -> Iterator[FacadeThread]:
    with start_facade() as facade:
        monkeypatch.setattr(http_connection, "REQUEST_TIMEOUT_S", 0.5)
        monkeypatch.setattr(http_connection, "UNREAD_TIMEOUT_S", 1.0)
        yield facade


def connected(facade: FacadeThread, sent: str = "", received_bytes: int = 4096) -> socket.socket:
    host, _, port = facade.url.removeprefix("http://").rpartition(":")
    client = socket.socket()
    client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, received_bytes)
    client.settimeout(10)
    client.connect((host, int(port)))
    client.sendall(sent.encode())
    return client


def is_closed(client: socket.socket) -> bool:
    """Waits until the server closes, whatever it says before."""
    try:
        while client.recv(65_536):
            pass
    except ConnectionResetError:
        return True
    return True


def is_open(client: socket.socket) -> bool:
    client.setblocking(False)
    try:
        while client.recv(65_536):
            pass
    except BlockingIOError:
        return True
    return False


def get(user: User, path: str) -> str:
    return f"GET {path} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {user.token}\r\n\r\n"


@pytest.mark.parametrize(
    "sent",
    ["", "GET /healthz HTT", "GET /healthz HTTP/1.1\r\nHost: a\r\n",
     "POST /live/v2/collection HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n{"],
    ids=["nothing", "half a line", "half a head", "half a body"],
)  # fmt: skip
def test_a_request_that_does_not_arrive_is_not_waited_for(strict: FacadeThread, sent: str) -> None:
    with connected(strict, sent) as client:
        assert is_closed(client)


def test_a_kept_connection_may_be_idle_for_longer_than_a_request(strict: FacadeThread) -> None:
    healthz = "GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n"
    with connected(strict, healthz) as kept:
        assert kept.recv(65_536).startswith(b"HTTP/1.1 200")
        with connected(strict) as silent:
            assert is_closed(silent)
        kept.sendall(healthz.encode())
        assert kept.recv(65_536).startswith(b"HTTP/1.1 200")


@pytest.fixture
def large(strict: FacadeThread, sign_in: SignIn) -> User:
    user = sign_in(facade=strict)
    collection = user.collection()
    for _ in range(PROJECTS):
        user.project(collection, metadata=LARGE)
    return user


def test_who_reads_nothing_is_cut_and_who_reads_slowly_is_not(strict: FacadeThread, large: User) -> None:
    connections = strict.server.server_state.connections
    strict.http.close()
    wait_for(lambda: not connections, "no other connection is open")
    request = get(large, "/live/v2/collection")
    with connected(strict, request), connected(strict, request) as slow:
        wait_for(lambda: len(connections) == 2, "both are served")
        size = 0
        while len(connections) == 2:
            size += len(slow.recv(4096))
            assert size < PROJECTS * len(LARGE), "the one that reads nothing is not cut"
            time.sleep(POLL_S)
        while size < PROJECTS * len(LARGE):
            data = slow.recv(65_536)
            assert data, f"cut after {size} bytes"
            size += len(data)


@pytest.mark.parametrize("last", ["", "Connection: close\r\n"], ids=["kept", "closing"])
def test_who_reads_nothing_of_little_is_cut_too(strict: FacadeThread, last: str) -> None:
    """Less than what has the server pause: it waits in the connection alone."""
    for each in strict.server.servers[0].sockets:
        each.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 20_000)
    connections = strict.server.server_state.connections
    before = len(connections)
    healthz = "GET /healthz HTTP/1.1\r\nHost: a\r\n"
    with connected(strict, 170 * f"{healthz}\r\n" + f"{healthz}{last}\r\n", 1024):
        wait_for(lambda: len(connections) > before, "it is served")
        waits = [each for each in connections if each.transport.get_write_buffer_size()]
        wait_for(lambda: len(connections) <= before, "it is cut")
    assert not any(each.flow.write_paused for each in waits)


def test_what_a_service_does_not_read_is_bounded_until_it_is_read_or_cut(
    strict: FacadeThread, large: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each response is far more than sockets buffer, so it stays in the facade while nobody reads it."""
    monkeypatch.setattr(response_bytes, "MAX_BYTES", int(2.5 * PROJECTS * len(LARGE)))
    monkeypatch.setattr(http_connection, "UNREAD_TIMEOUT_S", 60.0)
    request = get(large, "/live/v2/collection")
    rpc = "/grpcweb/live/v2/live.v21.CollectionService/GetCollections"
    with connected(strict, request) as first, connected(strict, request) as second:
        for client in (first, second):
            assert client.recv(4096).startswith(b"HTTP/1.1 200")
        refused = large.call("GET", "/collection")
        assert (refused.status_code, refused.json()["code"]) == (429, 8), refused.text
        assert refused.headers["Retry-After"]
        headers = {**large.headers, "Content-Type": "application/json"}
        assert strict.http.post(rpc, headers=headers, content=b"{}").status_code == 429
    wait_for(lambda: large.call("GET", "/collection").status_code == 200, "both are cut")
    assert strict.http.post(rpc, headers=headers, content=b"{}").status_code == 200


def test_of_too_many_idle_connections_the_oldest_are_closed_and_nobody_is_who_is_served(
    start_facade: StartFacade, sign_in: SignIn
) -> None:
    """A thousand strangers that say nothing, half of a head, or one request and no more."""
    most = 64
    with start_facade(limits={"idle_connections": most}) as facade, contextlib.ExitStack() as open_ones:
        user = sign_in(facade=facade)
        collection = user.collection()
        stream = open_ones.enter_context(connected(facade, get(user, "/event/v2/stream?subscribe.name=*")))
        assert stream.recv(4096).startswith(b"HTTP/1.1 200")
        kept = open_ones.enter_context(connected(facade, get(user, f"/live/v2/collection/{collection}")))
        assert kept.recv(65_536).startswith(b"HTTP/1.1 200")
        said = ("", "GET /healthz HTTP/1.1\r\nHo")
        strangers = [open_ones.enter_context(connected(facade, said[at % 2])) for at in range(1000)]
        assert all(map(is_closed, strangers[: 1000 - most]))
        assert (metric(facade, "onair_api_idle_connections_closed_total") or 0) >= 1000 - most
        kept.sendall(get(user, f"/live/v2/collection/{collection}").encode())
        assert kept.recv(65_536).startswith(b"HTTP/1.1 200"), "who was served stays before who says nothing"
        assert is_open(stream)
