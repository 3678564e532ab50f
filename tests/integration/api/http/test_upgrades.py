"""Requests that offer another protocol: HTTP/2, as some clients do, or WebSocket that cannot be read."""

from __future__ import annotations

import json
import socket

import pytest
from tests.support.facade import FacadeThread, User

H2C = "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAoAAAAAIAAAAA\r\n"
WEBSOCKET = (
    "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
)


@pytest.fixture
def client(facade: FacadeThread) -> socket.socket:
    host, _, port = facade.url.removeprefix("http://").rpartition(":")
    return socket.create_connection((host, int(port)), timeout=10)


def received(client: socket.socket, responses: int = 1) -> list[str]:
    """The status lines of so many responses, and all that came with them."""
    text = ""
    while text.count("HTTP/1.1 ") < responses or not text.endswith("}"):
        data = client.recv(65_536)
        assert data, f"closed after {text}"
        text += data.decode()
    return [f"HTTP/1.1 {each}" for each in text.split("HTTP/1.1 ")[1:]]


@pytest.mark.parametrize("splits", [(), (10,), (-20,), (-len('{"metadata": {"of": "h2c"}}'),), (40, -1)])
def test_who_could_do_http2_is_served_as_who_cannot(
    anna: User, client: socket.socket, splits: tuple[int, ...]
) -> None:
    body = json.dumps({"metadata": {"of": "h2c"}})
    head = f"POST /live/v2/collection HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {anna.token}\r\n"
    sent = f"{head}{H2C}Content-Length: {len(body)}\r\n\r\n{body}".encode()
    at = 0
    with client:
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for split in (*(each % len(sent) for each in splits), len(sent)):
            client.sendall(sent[at:split])
            at = split
        assert received(client)[0].startswith("HTTP/1.1 200")
        client.sendall(b"GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n")
        assert '{"alive":true}' in received(client)[0]
    (made,) = anna.ok("GET", "/collection")["collections"]
    assert made["metadata"] == {"of": "h2c"}


@pytest.mark.parametrize("headers", ["", "Connection: keep-alive\r\n"])
def test_a_body_is_no_request(anna: User, client: socket.socket, headers: str) -> None:
    """Nothing that a proxy in front took for a body is served as a request."""
    body = "GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n"
    head = f"POST /live/v2/collection HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {anna.token}\r\n"
    with client:
        client.sendall(f"{head}{H2C}{headers}Content-Length: {len(body)}\r\n\r\n".encode())
        client.sendall(f"{body}GET /readyz HTTP/1.1\r\nHost: a\r\n\r\n".encode())
        first, second = received(client, 2)
    assert first.startswith("HTTP/1.1 400")
    assert "waitingFor" in second


def test_many_that_offer_another_protocol_may_come_at_once(client: socket.socket) -> None:
    offers = "GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: a\r\n\r\n"
    with client:
        client.sendall(1500 * offers.encode())
        assert all(each.startswith("HTTP/1.1 200") for each in received(client, 1500))


def test_an_older_client_is_served_as_such(client: socket.socket) -> None:
    with client:
        client.sendall(b"GET /healthz HTTP/1.0\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n")
        while client.recv(65_536):
            pass


@pytest.mark.parametrize(
    "request_",
    [
        f"GET /event/v2/stream?at={'a' * 200_000} HTTP/1.1\r\nHost: a\r\n{WEBSOCKET}\r\n",
        f"GET /event/v2/stream HTTP/1.1\r\nHost: a\r\n{WEBSOCKET}" + "A: b\r\n" * 200 + "\r\n",
        f"GET /event/v2/stream HTTP/1.1\r\nHost: a\r\n{WEBSOCKET}Content-Length: 5\r\n\r\nhello",
        f"GET /event/v2/stream HTTP/1.1\r\nHost: a\r\n{WEBSOCKET.replace('13', '7')}\r\n",
    ],
    ids=["line", "headers", "body", "version"],
)
def test_a_websocket_that_cannot_be_is_refused_and_closed(client: socket.socket, request_: str) -> None:
    with client:
        try:
            client.sendall(request_.encode())
            while client.recv(65_536):
                pass
        except ConnectionError:
            pass


def test_a_websockets_query_may_be_as_long_as_a_head(anna: User, client: socket.socket) -> None:
    with client:
        head = f"GET /event/v2/stream?accessToken={anna.token}&more={'a' * 60_000} HTTP/1.1\r\nHost: a\r\n"
        client.sendall(f"{head}{WEBSOCKET}\r\n".encode())
        assert client.recv(65_536).startswith(b"HTTP/1.1 101")
