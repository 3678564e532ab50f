"""Messages as JSON, by both protocols that have them."""

from __future__ import annotations

import json
from collections.abc import Callable

import httpx
import pytest
from tests.support.facade import User
from tests.support.rpc import frame, reply_of, url_of

from onair_crds.shapes import JsonObject

SERVICE = "live.v21.CollectionService"
Reply = tuple[int | str, JsonObject]
"""The code of an error, else 0, and the message."""
Call = Callable[[User, str, JsonObject], Reply]


def posted(user: User, method: str, content_type: str, body: bytes) -> httpx.Response:
    headers = {**user.headers, "content-type": content_type}
    return user.facade.http.post(url_of(SERVICE, method), content=body, headers=headers)


def by_grpc_web(user: User, method: str, request: JsonObject) -> Reply:
    response = posted(user, method, "application/grpc-web+json", frame(json.dumps(request).encode()))
    assert response.headers["content-type"] == "application/grpc-web+json"
    reply = reply_of(response)
    return reply.status, json.loads(reply.messages[0]) if reply.messages else {}


def by_connect(user: User, method: str, request: JsonObject) -> Reply:
    response = posted(user, method, "application/json", json.dumps(request).encode())
    assert response.headers["content-type"] == "application/json"
    found = response.json()
    return (0, found) if response.is_success else (found["code"], {})


@pytest.mark.parametrize(("call", "not_found"), [(by_grpc_web, 5), (by_connect, "not_found")])
def test_what_a_call_creates_is_there_over_http(anna: User, call: Call, not_found: int | str) -> None:
    status, made = call(anna, "CreateCollection", {"metadata": {"name": "Sunday"}})
    assert (status, made["collection"]["metadata"]) == (0, {"name": "Sunday"})
    ids = {"collectionId": made["collection"]["collectionId"]}
    read = anna.ok("GET", f"/collection/{ids['collectionId']}")["collection"]
    assert read["metadata"] == {"name": "Sunday"}
    assert call(anna, "GetCollection", ids) == (0, made)
    assert call(anna, "GetCollection", {"collectionId": "nobodys"}) == (not_found, {})
