"""What the RPC door says to requests that are wrong: frames, JSON, ids, methods, protocols, headers."""

from __future__ import annotations

import base64
import re

import pytest
from tests.support.asgi import client
from tests.support.rpc import WEB, frame, frames_of, reply_of
from tests.support.rpc_door import IDS, PATH, SERVICE, asked, request, send

from onair_api.rpc.door import Door

BAD_FRAMES: dict[str, tuple[bytes, dict[str, str], set[int]]] = {
    "nothing": (b"", {}, {12}),
    "half a head": (b"\0\0\0", {}, {3}),
    "half a message": (frame(request(**IDS))[:-1], {}, {3}),
    "trailing bytes": (frame(request(**IDS)) + b"\0\0", {}, {3}),
    "two messages": (frame(request(**IDS)) * 2, {}, {12}),
    "a trailer": (frame(b"grpc-status: 0", 0x80), {}, {3}),
    "unknown flags": (frame(request(**IDS), 0x40), {}, {3}),
    "compressed without saying how": (frame(request(**IDS), 1), {}, {13}),
    "compressed": (frame(request(**IDS), 1), {"grpc_encoding": "gzip"}, {12}),
    "no message": (frame(b"\xff\xff\xff"), {}, {3}),
    "no text": (frame(b"\x0a\x01\xff"), {}, {3}),
    "a message of another kind": (frame(b"\x08\x01"), {}, {3}),
    "too large by its head": (b"\0\xff\xff\xff\xff", {}, {8}),
    "too large": (frame(bytes(3000)), {}, {8}),
    "a deadline of words": (frame(request(**IDS)), {"grpc_timeout": "soon"}, {3}),
    "a deadline of a century": (frame(request(**IDS)), {"grpc_timeout": "999999999H"}, {3}),
}


@pytest.mark.parametrize(("body", "headers", "statuses"), BAD_FRAMES.values(), ids=BAD_FRAMES.keys())
async def test_wrong_frames_are_told_as_such(
    door: Door, body: bytes, headers: dict[str, str], statuses: set[int]
) -> None:
    reply = await asked(door, body, **headers)
    assert reply.status in statuses
    assert reply.text


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"{", 400),
        (b"[]", 400),
        (b'"text"', 400),
        (b"\xff", 400),
        (b'{"status":1}', 400),
        (b'{"collectionId":5,"projectId":"p"}', 400),
        (b'{"collectionId":null,"projectId":"p"}', 400),
        (b'{"a":' * 100 + b"1" + b"}" * 100, 400),
        (b'{"collectionId":"' + b"x" * 3000 + b'"}', 429),
    ],
)
async def test_wrong_json_is_told_as_such(door: Door, body: bytes, status: int) -> None:
    response = await send(door, body, content_type="application/json")
    assert response.status_code == status, response.text
    assert response.json()["message"]


@pytest.mark.parametrize("body", [b"!!!!", b"AAA", b"AAAA", b"A" * 9000])
async def test_text_that_is_no_base64_of_frames_is_told_as_such(door: Door, body: bytes) -> None:
    response = await send(door, body, content_type="application/grpc-web-text")
    ((flags, trailers),) = frames_of(base64.b64decode(response.content))
    assert (flags, response.status_code) == (0x80, 200)
    assert re.search(rb"grpc-status: (3|12)\r", trailers)


async def test_ids_are_required(door: Door) -> None:
    reply = await asked(door, frame(request(projectId="p")))
    assert (reply.status, reply.text) == (3, "collectionId: is required")


@pytest.mark.parametrize("path", [f"/{SERVICE}/Steal", "/other.Service/GetProject", "/x", "/", "/none"])
async def test_a_strangers_method_is_unimplemented(door: Door, path: str) -> None:
    reply = await asked(door, frame(b""), path)
    assert (reply.status, reply.text) == (12, "this interface has no such method")
    connect = await send(door, b"{}", path, content_type="application/json")
    assert (connect.status_code, connect.json()["code"]) == (501, "unimplemented")


@pytest.mark.parametrize("content_type", ["application/grpc", "application/grpc+proto", "text/plain", ""])
async def test_other_protocols_are_refused_by_name(door: Door, content_type: str) -> None:
    response = await send(door, b"", content_type=content_type)
    assert response.status_code == 415
    assert WEB in response.headers["accept-post"]


async def test_headers_of_any_bytes_do_no_harm(door: Door) -> None:
    async with client(door) as http:
        headers = [("content-type", WEB), (b"grpc-other", b"\xff\xfe"), (b"x-note", b"\xe4")]
        response = await http.post(PATH, content=frame(request(**IDS)), headers=headers)  # type: ignore[arg-type]
    assert reply_of(response).status == 0
