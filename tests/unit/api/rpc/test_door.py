"""The RPC door: its protocols, errors and deadlines, whom it refuses, and its place in the application."""

from __future__ import annotations

import asyncio
import base64
import json
import re
from collections.abc import Mapping

import httpx
import pytest
from fastapi import FastAPI
from google.protobuf import any_pb2, json_format
from tests.support.asgi import client
from tests.support.rpc import WEB, frame, frames_of, reply_of, url_of
from tests.support.rpc_door import IDS, NAME, OK, SERVICE, ScriptedProjects, asked, operation, request, send

from onair_api.auth.callers import Access, Callers, CallHeaders
from onair_api.errors import InvalidArgument, PermissionDenied, ResourceExhausted, Violation
from onair_api.metrics import REQUESTS
from onair_api.rpc.descriptors import messages_of
from onair_api.rpc.door import Door
from onair_api.rpc.method import Method
from onair_api.settings import LimitSettings
from onair_crds.kube.errors import ApiError


async def test_grpc_web_gets_the_message_and_its_status_in_the_body(
    door: Door, projects: ScriptedProjects
) -> None:
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
    door: Door, projects: ScriptedProjects, content_type: str
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


async def test_connect_speaks_json_and_binary(door: Door, projects: ScriptedProjects) -> None:
    spelled = json.dumps({"collection_id": "c", "projectId": "p", "status": False, "new": 1}).encode()
    response = await send(door, spelled, content_type="application/json")
    assert (response.status_code, response.json()) == (200, OK)
    assert projects.served == [(IDS, {"status": False})]
    binary = await send(door, request(**IDS), content_type="application/proto")
    assert json_format.MessageToDict(messages_of(SERVICE, NAME).response.FromString(binary.content)) == OK


async def test_an_error_has_code_message_and_details(door: Door, projects: ScriptedProjects) -> None:
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
    door: Door, projects: ScriptedProjects, error: Exception, status: int
) -> None:
    projects.error = error
    reply = await asked(door, frame(request(**IDS)))
    assert reply.status == status
    assert "secret" not in reply.text


async def test_an_error_has_its_headers(door: Door, projects: ScriptedProjects) -> None:
    projects.error = ResourceExhausted("slowly", retry_after_s=7)
    assert (await send(door, frame(request(**IDS)))).headers["retry-after"] == "7"


async def test_a_deadline_ends_the_wait_and_not_the_work(door: Door, projects: ScriptedProjects) -> None:
    projects.gate.clear()
    reply = await asked(door, frame(request(**IDS)), grpc_timeout="20m")
    assert (reply.status, projects.served) == (4, [])
    connect = await send(door, b"{}", content_type="application/json", connect_timeout_ms="20")
    assert connect.status_code in (400, 504)
    projects.gate.set()
    async with asyncio.timeout(5):
        await projects.done.wait()
    assert projects.served[0][0] == IDS


class RefusingAccess(Access[None]):
    async def caller(self, callers: Callers, operation: str, headers: CallHeaders) -> None:
        raise PermissionDenied(f"not {headers.session_id}")


async def test_a_stranger_is_refused_before_anything_is_parsed(projects: ScriptedProjects) -> None:
    limits = LimitSettings(body_bytes=2048)
    callers = Callers(None, None, None)  # type: ignore[arg-type]
    door = Door([Method(operation(RefusingAccess()), projects, callers, limits, {})], limits)
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
