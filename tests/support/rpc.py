"""A client of the RPC door: gRPC-Web in its binary form, as browsers speak it."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import unquote

import httpx
from google.protobuf.message import Message
from google.rpc import status_pb2

from onair_api.rpc import json_form
from onair_api.rpc.descriptors import messages_of
from onair_api.rpc.routes import root_of
from onair_crds.runtime.steps import at_once
from onair_crds.shapes import JsonObject

WEB = "application/grpc-web+proto"
TRAILERS = 0x80


def frame(data: bytes, flags: int = 0) -> bytes:
    return bytes([flags]) + len(data).to_bytes(4, "big") + data


def frames_of(body: bytes) -> list[tuple[int, bytes]]:
    """Flags and content of each frame of a whole body."""
    found, rest = [], body
    while rest:
        size = int.from_bytes(rest[1:5], "big")
        assert len(rest) >= 5 + size, "the last frame is cut"
        found.append((rest[0], rest[5 : 5 + size]))
        rest = rest[5 + size :]
    return found


@dataclass
class Reply:
    """The response of one method."""

    status: int
    """gRPC's."""
    text: str
    details: list[Message]
    messages: list[bytes]
    headers: Mapping[str, str]
    trailers: dict[str, str] = field(default_factory=dict)


def reply_of(response: httpx.Response) -> Reply:
    """A response of gRPC-Web, whose status is in its body or, where there is none, in its headers."""
    assert response.status_code == 200, response.text
    frames = frames_of(response.content)
    trailers = {
        name.lower(): value.strip()
        for flags, data in frames
        if flags & TRAILERS
        for name, _, value in (line.partition(":") for line in data.decode().splitlines())
    }
    said = trailers or {name: value for name, value in response.headers.items() if name.startswith("grpc-")}
    details = said.get("grpc-status-details-bin", "")
    status = status_pb2.Status.FromString(base64.b64decode(details + "=" * (-len(details) % 4)))
    return Reply(
        int(said["grpc-status"]),
        unquote(said.get("grpc-message", "")),
        list(status.details),
        [data for flags, data in frames if not flags & TRAILERS],
        response.headers,
        trailers,
    )


def url_of(service: str, method: str) -> str:
    return f"{root_of(service)}/{service}/{method}"


def post(
    http: httpx.Client, service: str, method: str, body: bytes, headers: Mapping[str, str] | None = None
) -> httpx.Response:
    """Sends a body that is framed already."""
    given = {"content-type": WEB, "x-grpc-web": "1", **(headers or {})}
    return http.post(url_of(service, method), content=body, headers=given)


def call(
    http: httpx.Client, service: str, method: str, request: Message, headers: Mapping[str, str] | None = None
) -> Reply:
    return reply_of(post(http, service, method, frame(request.SerializeToString()), headers))


def response_of(reply: Reply, service: str, method: str) -> Message:
    assert reply.status == 0, reply.text
    (data,) = reply.messages
    return messages_of(service, method).response.FromString(data)


def json_of(message: Message) -> JsonObject:
    """The fields of a message, as services take them."""
    return at_once(json_form.json_of(message))
