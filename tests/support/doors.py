"""The doors of the interface for tests of operations: the same calls over HTTP, or over RPC.

A call goes through RPC where its message has the fields: not what RPC cannot send (another type than the
field's, an empty list, several spellings), nor images and redirects, which HTTP shows its own way.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any
from urllib.parse import parse_qsl, unquote

import httpx
from google.protobuf import json_format
from google.protobuf.message import Message
from pydantic.alias_generators import to_camel
from tests.support import rpc

from onair_api.errors import Code
from onair_api.http.responses import NEXT_PAGE
from onair_api.operation import AnyOperation, Flag, ResponseKind, StreamOperation
from onair_api.operations import OPERATIONS
from onair_api.rpc.descriptors import messages_of
from onair_api.rpc.json_form import fields_of, json_of
from onair_crds.shapes import JsonObject

HTTP, RPC = "http", "rpc"
TRUE = ("true", "1", "")
FREE = {"metadata", "data", "payload", "requestMetadata", "participantMetadata", "children"}
"""Fields that hold any JSON."""
LEFT_OUT = {"endpoints"}
"""Lists that HTTP does not show where they are empty."""
SENT = {"sessionid", "apistream-sessionid", "x-api-key", "authorization"}
"""Headers that RPC sends as well."""
SHOWN_OTHERWISE = {ResponseKind.IMAGE, ResponseKind.REDIRECT}


class Door:
    """Which door calls take now, and how often each operation was called through RPC."""

    def __init__(self) -> None:
        self.name = HTTP
        self.calls: Counter[str] = Counter()


DOOR = Door()


@contextmanager
def through(name: str) -> Iterator[None]:
    """Users call through this door, as far as it has the call."""
    DOOR.name = name
    try:
        yield
    finally:
        DOOR.name = HTTP


_PATTERNS = [
    (method, re.compile(re.sub(r"{(\w+)}", r"(?P<\1>[^/]+)", each.http.path)), each)
    for each in OPERATIONS
    if not isinstance(each, StreamOperation) and each.http.response not in SHOWN_OTHERWISE
    for method in (each.http.method, each.http.alternate_method)
]


def through_rpc(
    http: httpx.Client, method: str, url: str, body: Any, headers: Mapping[str, str]
) -> httpx.Response | None:
    """The response as HTTP would have given it; None where RPC does not have the call."""
    if not {name.lower() for name in headers} <= SENT or not isinstance(body, dict | None):
        return None
    path, _, query = url.partition("?")
    place = _place(method, path)
    if place is None:
        return None
    operation, ids = place
    request = _request(operation, ids, dict(parse_qsl(query, keep_blank_values=True)), body or {})
    if request is None:
        return None
    DOOR.calls[operation.name] += 1
    name = operation.rpc.method or operation.name
    reply = rpc.call(http, operation.rpc.service, name, request, headers)
    response = _as_http(operation, name, reply)
    response.request = httpx.Request(method, url)
    return response


def _place(method: str, path: str) -> tuple[AnyOperation, dict[str, str]] | None:
    """The operation that HTTP has there, and the ids."""
    for known, pattern, operation in _PATTERNS:
        if known == method and (found := pattern.fullmatch(path)):
            return operation, {name: unquote(value) for name, value in found.groupdict().items()}
    return None


def _request(
    operation: AnyOperation, ids: dict[str, str], query: dict[str, str], body: JsonObject
) -> Message | None:
    if _has_empty_list(body) or not all(ids.values()) or ids.keys() & body.keys():
        return None
    fields = dict(body)
    for each in operation.messages.query:
        if (value := query.pop(each.name, None)) is not None:
            if isinstance(each, Flag) and value not in (*TRUE, "false", "0"):
                return None
            fields[each.name] = value in TRUE if isinstance(each, Flag) else value
    rpc_ = operation.rpc
    whole = {**ids, rpc_.body: fields} if rpc_.body else {**ids, **fields}
    kind = messages_of(rpc_.service, rpc_.method or operation.name).request
    try:
        message = json_format.ParseDict(whole, kind())
    except json_format.ParseError:
        return None
    return message if _only_has(json_of(message), whole) else None


def _only_has(fields: Any, given: Any) -> bool:
    """Whether RPC adds nothing: a number that it cannot leave out is zero where a body has none."""
    if isinstance(fields, dict) and isinstance(given, dict):
        known = {to_camel(name): value for name, value in given.items()}
        return all(
            name in FREE or (name in known and _only_has(value, known[name]))
            for name, value in fields.items()
        )
    if isinstance(fields, list) and isinstance(given, list):
        return all(map(_only_has, fields, given))
    return True


def _has_empty_list(value: Any) -> bool:
    if isinstance(value, dict):
        return any(_has_empty_list(each) for name, each in value.items() if name not in FREE)
    return isinstance(value, list) and (not value or any(map(_has_empty_list, value)))


def _as_http(operation: AnyOperation, name: str, reply: rpc.Reply) -> httpx.Response:
    headers = {
        n: v for n, v in reply.headers.items() if n in ("authorization", "retry-after", "x-request-id")
    }
    if reply.status:
        details = [json_format.MessageToDict(each) for each in reply.details]
        body = {"code": reply.status, "message": reply.text, "details": details}
        return httpx.Response(Code(reply.status).http_status, content=json.dumps(body), headers=headers)
    content: Any = shown(rpc.response_of(reply, operation.rpc.service, name))
    if operation.http.response is ResponseKind.LIST:
        if token := content.get("nextPageToken"):
            headers[NEXT_PAGE] = token
        content = content[operation.rpc.items]
    return httpx.Response(200, content=json.dumps(content), headers=headers)


def shown(message: Message) -> JsonObject:
    """A message as HTTP shows it: lists are there if empty, one integer is a text."""
    found = json_of(message)
    for field in fields_of(message.DESCRIPTOR):
        value = getattr(message, field.name)
        if field.repeated and (value or field.json_name not in LEFT_OUT):
            found[field.json_name] = [
                shown(each) if isinstance(each, Message) else json_value
                for each, json_value in zip(value, found.get(field.json_name, ()), strict=True)
            ]
        elif isinstance(found.get(field.json_name), dict) and not field.message.startswith("google."):
            found[field.json_name] = shown(value)
    if "targetBitrate" in found:
        found["targetBitrate"] = str(found["targetBitrate"])
    return found
