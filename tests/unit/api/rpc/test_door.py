"""The RPC door: its protocols, and what it says to requests that are wrong."""

from __future__ import annotations

import asyncio
import base64
import json
import re
from collections.abc import Mapping
from typing import Any

import httpx
import pytest
from fastapi import FastAPI
from google.protobuf import any_pb2, json_format
from google.protobuf.message import Message
from tests.support.asgi import client
from tests.support.rpc import WEB, Reply, frame, frames_of, reply_of, url_of

from onair_api.auth.callers import Access, ByAnybody, Callers, CallHeaders
from onair_api.errors import InvalidArgument, PermissionDenied, ResourceExhausted, Violation
from onair_api.metrics import REQUESTS
from onair_api.operation import Docs, Flag, Http, Ids, Messages, Operation, Rpc, ServiceMethod
from onair_api.rpc.descriptors import messages_of
from onair_api.rpc.door import Door
from onair_api.rpc.method import Method
from onair_api.settings import LimitSettings
from onair_crds.kube.errors import ApiError
from onair_crds.shapes import JsonObject

SERVICE, NAME = "live.v21.ProjectService", "GetProject"
PATH = f"/{SERVICE}/{NAME}"
REQUEST = messages_of(SERVICE, NAME).request
OK = {"project": {"projectId": "p"}}


class Projects:
    """Answers as it is told, and keeps what it was asked."""

    def __init__(self) -> None:
        self.error: Exception | None = None
        self.gate = asyncio.Event()
        self.gate.set()
        self.done = asyncio.Event()
        self.served: list[tuple[Ids, JsonObject]] = []

    async def get(self, caller: None, ids: Ids, message: JsonObject) -> JsonObject:
        await self.gate.wait()
        self.served.append((ids, message))
        self.done.set()
        if self.error:
            raise self.error
        return OK


def operation(access: Access[None]) -> Operation[Projects, None]:
    return Operation(
        name=NAME,
        http=Http("GET", "/{collectionId}/{projectId}"),
        rpc=Rpc(SERVICE),
        access=access,
        messages=Messages(None, "Empty", query=(Flag("status", "", default=True),)),
        docs=Docs("projects", "", ""),
        service=ServiceMethod(Projects, Projects.get),
    )


@pytest.fixture
def projects() -> Projects:
    return Projects()


@pytest.fixture
def door(projects: Projects) -> Door:
    limits = LimitSettings(body_bytes=2048)
    callers: Callers = None  # type: ignore[assignment]
    return Door([Method(operation(ByAnybody()), projects, callers, limits)], limits)


async def send(door: Any, body: bytes, path: str = PATH, **headers: str) -> httpx.Response:
    given = {"content-type": WEB, **{name.replace("_", "-"): value for name, value in headers.items()}}
    async with client(door) as http:
        return await http.post(path, content=body, headers=given)


def request(**fields: Any) -> bytes:
    message: Message = json_format.ParseDict(fields, REQUEST())
    return message.SerializeToString()


async def asked(door: Door, body: bytes, path: str = PATH, **headers: str) -> Reply:
    return reply_of(await send(door, body, path, **headers))


IDS = {"collectionId": "c", "projectId": "p"}


async def test_grpc_web_gets_the_message_and_its_status_in_the_body(door: Door, projects: Projects) -> None:
    response = await send(door, frame(request(**IDS)))
    assert response.headers["content-type"] == WEB
    reply = reply_of(response)
    assert (reply.status, len(reply.messages)) == (0, 1)
    assert projects.served == [(IDS, {"status": True})]


@pytest.mark.parametrize("content_type", ["application/grpc-web", f"{WEB}; charset=utf-8", WEB.upper()])
async def test_content_types_may_be_written_in_several_ways(door: Door, content_type: str) -> None:
    assert (await asked(door, frame(request(**IDS)), content_type=content_type)).status == 0


@pytest.mark.parametrize("content_type", ["application/grpc-web-text", "application/grpc-web-text+proto"])
async def test_grpc_web_as_text_is_the_same_in_base64(
    door: Door, projects: Projects, content_type: str
) -> None:
    body = frame(request(**IDS))
    for sent in (base64.b64encode(body), base64.b64encode(body[:5]) + base64.b64encode(body[5:])):
        response = await send(door, sent, content_type=content_type)
        assert response.headers["content-type"] == "application/grpc-web-text+proto"
        parts = re.findall("[^=]+={0,2}", response.text)
        frames = frames_of(b"".join(map(base64.b64decode, parts)))
        assert [flags for flags, _ in frames] == [0, 0x80]
        assert b"grpc-status: 0" in frames[1][1]
    assert projects.served == [(IDS, {"status": True})] * 2


@pytest.mark.parametrize("body", [b"!!!!", b"AAA", b"AAAA", b"A" * 9000])
async def test_text_that_is_no_base64_of_frames_is_told_as_such(door: Door, body: bytes) -> None:
    response = await send(door, body, content_type="application/grpc-web-text")
    ((flags, trailers),) = frames_of(base64.b64decode(response.content))
    assert (flags, response.status_code) == (0x80, 200)
    assert re.search(rb"grpc-status: (3|12)\r", trailers)


async def test_connect_speaks_json_and_binary(door: Door, projects: Projects) -> None:
    spelled = json.dumps({"collection_id": "c", "projectId": "p", "status": False, "new": 1}).encode()
    response = await send(door, spelled, content_type="application/json")
    assert (response.status_code, response.json()) == (200, OK)
    assert projects.served == [(IDS, {"status": False})]
    binary = await send(door, request(**IDS), content_type="application/proto")
    assert json_format.MessageToDict(messages_of(SERVICE, NAME).response.FromString(binary.content)) == OK


async def test_an_error_has_code_message_and_details(door: Door, projects: Projects) -> None:
    projects.error = InvalidArgument(Violation("a.b", "must be ä: 100 %"))
    reply = await asked(door, frame(request(**IDS)))
    assert (reply.status, reply.text) == (3, "a.b: must be ä: 100 %")
    (detail,) = reply.details
    assert isinstance(detail, any_pb2.Any)
    fields = json_format.MessageToDict(detail)
    assert fields["@type"] == "type.googleapis.com/google.rpc.BadRequest"
    assert fields["fieldViolations"] == [{"field": "a.b", "description": "must be ä: 100 %"}]
    connect = await send(door, b"{}", content_type="application/json")
    assert connect.status_code == 400
    assert connect.json()["code"] == "invalid_argument"


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (PermissionDenied("no"), 7),
        (ApiError(503, "ServiceUnavailable", "secret"), 14),
        (RuntimeError("secret"), 13),
        (KeyError("secret"), 13),
    ],
)
async def test_no_error_says_what_is_inside(
    door: Door, projects: Projects, error: Exception, status: int
) -> None:
    projects.error = error
    reply = await asked(door, frame(request(**IDS)))
    assert reply.status == status
    assert "secret" not in reply.text


async def test_an_error_has_its_headers(door: Door, projects: Projects) -> None:
    projects.error = ResourceExhausted("slowly", retry_after_s=7)
    assert (await send(door, frame(request(**IDS)))).headers["retry-after"] == "7"


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


async def test_a_deadline_ends_the_wait_and_not_the_work(door: Door, projects: Projects) -> None:
    projects.gate.clear()
    reply = await asked(door, frame(request(**IDS)), grpc_timeout="20m")
    assert (reply.status, projects.served) == (4, [])
    connect = await send(door, b"{}", content_type="application/json", connect_timeout_ms="20")
    assert connect.status_code in (400, 504)
    projects.gate.set()
    async with asyncio.timeout(5):
        await projects.done.wait()
    assert projects.served[0][0] == IDS


class Refusing(Access[None]):
    async def caller(self, callers: Callers, operation: str, headers: CallHeaders) -> None:
        raise PermissionDenied(f"not {headers.session_id}")


async def test_a_stranger_is_refused_before_anything_is_parsed(projects: Projects) -> None:
    limits = LimitSettings(body_bytes=2048)
    callers: Callers = None  # type: ignore[assignment]
    door = Door([Method(operation(Refusing()), projects, callers, limits)], limits)
    reply = await asked(door, frame(b"\xff\xff"), sessionid="you")
    assert (reply.status, reply.text) == (7, "not you")


async def call_app(app: FastAPI, service: str, method: str, headers: Mapping[str, str]) -> httpx.Response:
    async with client(app) as http:
        given = {"content-type": WEB, **headers}
        return await http.post(url_of(service, method), content=frame(b""), headers=given)


async def test_the_application_has_the_door(app: FastAPI) -> None:
    reply = reply_of(await call_app(app, SERVICE, NAME, {}))
    assert reply.status == 16
    keys = await call_app(app, "live.v21.PublicAuthenticationService", "GetJsonWebKeySet", {})
    assert reply_of(keys).status == 0
    assert reply_of(await call_app(app, SERVICE, "Steal", {})).status == 12


async def test_browsers_of_other_origins_may_use_it(app: FastAPI) -> None:
    asks = {"Access-Control-Request-Method": "POST", "Origin": "https://a.example"}
    async with client(app) as http:
        allowed = await http.options(url_of(SERVICE, NAME), headers=asks)
    names = {name.strip().lower() for name in allowed.headers["access-control-allow-headers"].split(",")}
    assert {"x-grpc-web", "grpc-timeout", "x-user-agent", "authorization", "content-type"} <= names
    exposed = (await call_app(app, SERVICE, NAME, {"Origin": "https://a.example"})).headers
    names = {name.strip().lower() for name in exposed["access-control-expose-headers"].split(",")}
    assert {"grpc-status", "grpc-message", "grpc-status-details-bin", "authorization"} <= names


async def test_an_error_counts_as_over_http(app: FastAPI) -> None:
    def counted(status: str) -> float:
        return float(REQUESTS.labels("POST", url_of(SERVICE, NAME), status)._value.get())

    before = counted("401")
    await call_app(app, SERVICE, NAME, {})
    assert counted("401") == before + 1
