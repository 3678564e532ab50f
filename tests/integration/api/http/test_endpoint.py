"""Request bodies: malformed, slow, too large."""

from __future__ import annotations

import json
import socket
from typing import Any
from urllib.parse import urlparse

import pytest
from tests.support.facade import FacadeThread, User
from tests.support.tokens import assert_error


def nested(depth: int) -> bytes:
    return b'{"metadata":' + b"[" * depth + b"]" * depth + b"}"


BAD_BODIES: dict[str, bytes] = {
    "no JSON": b"{",
    "words": b"hello",
    "an array": b"[]",
    "a number": b"5",
    "a string": b'"text"',
    "null": b"null",
    "true": b"true",
    "NaN": b'{"metadata": NaN}',
    "Infinity": b'{"maxDuration": -Infinity}',
    "too large a number": b'{"metadata": 1e400}',
    "a lone surrogate": b'{"metadata": "\\ud800"}',
    "invalid UTF-8": b'{"metadata": "\xff\xfe"}',
    "a byte order mark": b"\xef\xbb\xbf{}",
    "nested deeply": nested(100),
    "nested very deeply": nested(100_000),
    "trailing text": b"{} {}",
    "too large": b'{"metadata": "' + b"x" * 1_100_000 + b'"}',
    "binary": bytes(range(256)),
}


@pytest.mark.parametrize("body", BAD_BODIES.values(), ids=BAD_BODIES.keys())
def test_a_body_that_is_no_json_object_is_refused(anna: User, body: bytes) -> None:
    show = anna.project()
    for method, path in (
        ("POST", "/collection"),
        ("PATCH", f"/collection/{show.collection}"),
        ("POST", f"/collection/{show.collection}/project"),
        ("PATCH", show.path),
        ("POST", f"{show.path}/destination"),
    ):
        assert_error(anna.call(method, path, content=body), 400, 3)
    assert len(anna.ok("GET", "/collection")["collections"]) == 1


def test_a_body_is_json_whatever_its_content_type_says(anna: User) -> None:
    for content_type in (
        "text/plain",
        "application/x-www-form-urlencoded",
        "application/octet-stream",
        "nonsense",
    ):
        headers = {"Content-Type": content_type}
        response = anna.call("POST", "/collection", content=b'{"metadata": 7}', headers=headers)
        assert response.json()["collection"]["metadata"] == 7


def test_a_body_that_breaks_off_harms_nobody(facade: FacadeThread, anna: User) -> None:
    target = urlparse(facade.url)
    with socket.create_connection((str(target.hostname), int(target.port or 0))) as connection:
        head = f"POST /live/v2/collection HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {anna.token}\r\n"
        connection.sendall(f"{head}Content-Length: 100\r\n\r\n{{".encode())
    assert anna.ok("GET", "/collection") == {"collections": []}


def test_a_body_without_a_length_is_bounded_too(anna: User) -> None:
    def endless() -> Any:
        yield b'{"metadata": "'
        for _ in range(20):
            yield b"x" * 65_536
        yield b'"}'

    assert_error(anna.call("POST", "/collection", content=endless()), 400, 3)


@pytest.mark.parametrize(
    ("start", "more"),
    [
        (b"GET /healthz HTTP/1.1\r\nHost: a\r\n", b"X-A: " + b"a" * 60_000 + b"\r\n"),
        (b"GET /healthz HTTP/1.1\r\nHost: a\r\nX-A: ", b"a" * 60_000),
        (b"GET /", b"a" * 60_000),
        (b"PUT /x HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n", b"X-A: " + b"a" * 60_000 + b"\r\n"),
    ],
)
def test_a_request_without_an_end_is_cut(facade: FacadeThread, start: bytes, more: bytes) -> None:
    """Nobody needs a credential for this: the parser would keep all of it."""
    url = urlparse(facade.url)
    with socket.create_connection((url.hostname, url.port), timeout=5) as connection:
        connection.sendall(start)
        with pytest.raises(ConnectionError):
            connection.sendall(more * 400)


def test_a_body_in_chunks_of_a_byte_is_read(anna: User) -> None:
    body = json.dumps({"metadata": "x" * 50_000}).encode()
    response = anna.call("POST", "/collection", content=(bytes((each,)) for each in body))
    assert response.status_code == 200, response.text
