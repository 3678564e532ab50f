"""Who has no credential cannot make the facade take, keep or fail on what they send."""

from __future__ import annotations

import os
import socket
from urllib.parse import quote, urlparse

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from tests.support.facade import FacadeThread, User

EXAMPLES = 60 if "ONAIR_FUZZ_S" not in os.environ else 5000
MIB = 1024 * 1024
READ_MIB = 16
MOST_SENT_MIB = READ_MIB + 24
"""What may leave a client before it notices: what is read, and the buffers of two systems."""
FRAMINGS = {"length": f"Content-Length: {1024 * MIB}", "chunks": "Transfer-Encoding: chunked"}
CALL = "/grpcweb/live/v2/live.v21.CollectionService/CreateCollection"
STREAM = "/grpcweb/event/v2/apis.event.v2.EventService/Stream"
TARGETS = {
    "an operation": ("POST", "/live/v2/collection", ""),
    "a page": ("GET", "/healthz", ""),
    "nothing": ("PUT", "/no/such/path", ""),
    "a call": ("POST", CALL, "application/proto"),
    "a framed call": ("POST", CALL, "application/grpc-web+proto"),
    "a text call": ("POST", CALL, "application/grpc-web-text"),
    "a stream": ("POST", STREAM, "application/connect+proto"),
    "a webhook": ("POST", "/internal/rooms/webhook", ""),
}


def connected(facade: FacadeThread) -> socket.socket:
    url = urlparse(facade.url)
    return socket.create_connection((str(url.hostname), int(url.port or 0)), timeout=20)


def sent_mib(client: socket.socket, framing: str) -> int:
    """How much of a body without an end is taken, by the MiB."""
    part = bytes(MIB) if framing == "length" else b"%x\r\n" % MIB + bytes(MIB) + b"\r\n"
    for count in range(256):
        try:
            client.sendall(part)
        except ConnectionError:
            return count
    return 256


@pytest.mark.parametrize("framing", FRAMINGS)
@pytest.mark.parametrize("target", TARGETS)
def test_a_body_without_an_end_is_not_received(facade: FacadeThread, target: str, framing: str) -> None:
    method, path, content_type = TARGETS[target]
    head = (
        f"{method} {path} HTTP/1.1\r\nHost: a\r\nContent-Type: {content_type}\r\n{FRAMINGS[framing]}\r\n\r\n"
    )
    with connected(facade) as client:
        client.sendall(head.encode())
        assert sent_mib(client, framing) <= MOST_SENT_MIB
    assert facade.http.get("/healthz").is_success


@pytest.mark.parametrize("framing", FRAMINGS)
def test_nor_with_a_token(facade: FacadeThread, anna: User, framing: str) -> None:
    head = f"POST /live/v2/collection HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {anna.token}\r\n"
    with connected(facade) as client:
        client.sendall(f"{head}{FRAMINGS[framing]}\r\n\r\n".encode())
        assert sent_mib(client, framing) <= MOST_SENT_MIB


def test_who_reads_after_they_have_sent_gets_the_response(facade: FacadeThread) -> None:
    body = bytes(READ_MIB * MIB - 1)
    head = f"POST /live/v2/collection HTTP/1.1\r\nHost: a\r\nContent-Length: {len(body)}\r\n\r\n"
    with connected(facade) as client:
        client.sendall(head.encode() + body)
        assert client.recv(65_536).startswith(b"HTTP/1.1 401")


METHODS = st.sampled_from([b"GET", b"POST", b"PUT", b"OPTIONS", b"HEAD", b"CONNECT", b"PRI", b"get"])
PATHS = st.sampled_from(
    [
        b"/live/v2/collection",
        b"/event/v2/stream",
        CALL.encode(),
        b"*",
        b"//",
        b"http://a/b",
        b"/%00%ff",
        b"/docs",
        b"",
    ]
)
NAMES = st.sampled_from(
    b"Host Content-Length Transfer-Encoding Connection Upgrade Expect Authorization X-API-Key Origin Accept "
    b"Sec-WebSocket-Key Sec-WebSocket-Version Sec-WebSocket-Protocol Content-Type SessionId "
    b"Access-Control-Request-Method".split()
)
VALUES = (
    st.sampled_from(
        b"close websocket Upgrade h2c chunked 0 -1 999999999999999999999 100-continue 13 Bearer \xff\xfe "
        b"application/proto application/grpc-web-text */*".split()
    )
    | st.sampled_from([b"Bearer a.b.c", b"Bearer, a", b"keep-alive, Upgrade"])
    | st.binary(max_size=12)
)
CODES = st.binary(max_size=10).map(lambda code: b"/r/studio/" + quote(code).encode())
HEADERS = st.lists(st.tuples(NAMES | st.binary(max_size=6), VALUES), max_size=5)


@pytest.mark.fuzz
@settings(max_examples=EXAMPLES, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(METHODS, PATHS | CODES | st.binary(max_size=10), HEADERS, st.binary(max_size=20))
@example(b"OPTIONS", b"*", [], b"")
@example(b"CONNECT", b"a:80", [(b"Host", b"a")], b"")
@example(b"GET", b"/event/v2/stream", [(b"Connection", b"upgrade"), (b"Upgrade", b"websocket")], b"")
@example(b"GET", b"/\xff", [(b"Connection", b"upgrade"), (b"Upgrade", b"websocket")], b"\0\0")
@example(b"POST", b"/live/v2/collection", [(b"Authorization", b"Bearer \xff")], b"")
def test_no_request_is_a_failure_of_ours(
    facade: FacadeThread, method: bytes, path: bytes, headers: list[tuple[bytes, bytes]], body: bytes
) -> None:
    lines = b"".join(name + b": " + value + b"\r\n" for name, value in headers)
    with connected(facade) as client:
        client.sendall(method + b" " + path + b" HTTP/1.1\r\n" + lines + b"\r\n" + body)
        client.shutdown(socket.SHUT_WR)
        received = b""
        try:
            while part := client.recv(65_536):
                received += part
        except ConnectionError:
            pass
    first = received[:12]
    assert not first or (first.startswith(b"HTTP/1.") and first[9:10] in b"1234"), (first, received[-300:])
