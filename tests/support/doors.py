"""The doors of the interface for tests of operations: the same calls over HTTP, or over RPC.

A call goes through RPC where its message has the fields: not what RPC cannot send (another type than the
field's, an empty list, several spellings), nor redirects, which HTTP shows its own way.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from enum import Enum
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
from onair_api.rpc.json_form import fields_of
from onair_crds.resources.enums import ImageFormat
from onair_crds.shapes import JsonObject

HTTP, RPC = "http", "rpc"
TRUE = ("true", "1", "")
FREE = {"metadata", "data", "payload", "requestMetadata", "participantMetadata", "children"}
"""Fields that hold any JSON."""
LEFT_OUT = {"endpoints"}
"""Lists that HTTP does not show where they are empty."""
SENT = {"sessionid", "apistream-sessionid", "x-api-key", "authorization"}
"""Headers that RPC sends as well."""
MEDIA_TYPES = {ImageFormat.JPEG.wire: "image/jpeg"}
"""What HTTP says that an image is."""


class Reason(Enum):
    """Why a call cannot be sent by RPC."""

    HEADER = "a header that RPC does not take"
    NO_OBJECT = "a body that is no object"
    EMPTY_LIST = "an empty list, which is none over RPC"
    EMPTY_ID = "an empty id, which is another path over HTTP"
    ID_TWICE = "an id in the path and in the body"
    FLAG = "a flag that is neither true nor false"
    NO_FIELD = "a field that the message does not have"
    OTHER_TYPE = "a value that the field's type does not have"
    NEVER_ABSENT = "no number where the message cannot leave it out"


OVER_HTTP = {
    (operation, reason)
    for reason, operations in {
        # Records that were read and are written back, with their ids
        Reason.ID_TWICE: ("UpdateDestination", "UpdateSource"),
        # Flags in another spelling of true
        Reason.FLAG: ("GetCollection",),
        # Half a location
        Reason.NEVER_ABSENT: ("UpdateProject",),
        # A batch of nothing, a layer without children, a layout without transitions
        Reason.EMPTY_LIST: ("Batch", "CreateLayout", "UpdateLayout"),
        # Ids of new layers, states of records that are written back
        Reason.NO_FIELD: ("CreateLayer", "UpdateDestination"),
        # Fractions and texts for integers, two compositions of which a mask names one, masks in snake case
        Reason.OTHER_TYPE: ("CreateLayer", "CreateLayout", "UpdateLayer", "UpdateProject", "UpdateSource"),
        # A page's origin
        Reason.HEADER: ("GetCollections",),
        # The body that is not looked at
        Reason.NO_OBJECT: ("RefreshAccessToken",),
    }.items()
    for operation in operations
}
"""All that tests have succeed over HTTP, though they run through RPC."""


class NotSent(Exception):
    """A call cannot be sent by RPC."""

    def __init__(self, reason: Reason) -> None:
        super().__init__(reason.value)
        self.reason = reason


class DoorChoice:
    """Which door calls take now, and how often each operation was called through RPC."""

    def __init__(self) -> None:
        self.name = HTTP
        self.calls: Counter[str] = Counter()
        self.over_http: set[tuple[str, Reason]] = set()
        """What succeeded over HTTP instead; what HTTP refuses, RPC need not be able to say."""


DOOR = DoorChoice()


@contextmanager
def through(name: str) -> Iterator[None]:
    """Users call through this door, as far as it has the call."""
    DOOR.name = name
    DOOR.over_http.clear()
    try:
        yield
    finally:
        DOOR.name = HTTP


_PATTERNS = [
    (method, re.compile(re.sub(r"{(\w+)}", r"(?P<\1>[^/]+)", each.http.path)), each)
    for each in OPERATIONS
    if not isinstance(each, StreamOperation) and each.http.response is not ResponseKind.REDIRECT
    for method in (each.http.method, each.http.alternate_method)
]


def through_rpc(
    http: httpx.Client,
    method: str,
    url: str,
    body: Any,
    headers: Mapping[str, str],
    over_http: Callable[[], httpx.Response],
) -> httpx.Response:
    """The response as HTTP would have given it; HTTP's own where RPC does not have the call."""
    path, _, query = url.partition("?")
    place = _place(method, path)
    if place is None:
        return over_http()
    operation, ids = place
    try:
        if not {name.lower() for name in headers} <= SENT:
            raise NotSent(Reason.HEADER)
        if not isinstance(body, dict | None):
            raise NotSent(Reason.NO_OBJECT)
        request = _request(operation, ids, dict(parse_qsl(query, keep_blank_values=True)), body or {})
    except NotSent as error:
        response = over_http()
        if response.is_success:
            DOOR.over_http.add((operation.name, error.reason))
        return response
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
) -> Message:
    """The call's message.

    Raises:
        NotSent: no message says the same.
    """
    if _has_empty_list(body):
        raise NotSent(Reason.EMPTY_LIST)
    if not all(ids.values()):
        raise NotSent(Reason.EMPTY_ID)
    if ids.keys() & body.keys():
        raise NotSent(Reason.ID_TWICE)
    fields = dict(body)
    for each in operation.messages.query:
        if (value := query.pop(each.name, None)) is not None:
            if isinstance(each, Flag) and value not in (*TRUE, "false", "0"):
                raise NotSent(Reason.FLAG)
            fields[each.name] = value in TRUE if isinstance(each, Flag) else value
    rpc_ = operation.rpc
    whole = {**ids, rpc_.body: fields} if rpc_.body else {**ids, **fields}
    kind = messages_of(rpc_.service, rpc_.method or operation.name).request
    try:
        message = json_format.ParseDict(whole, kind())
    except json_format.ParseError as error:
        no_field = "has no field named" in str(error)
        raise NotSent(Reason.NO_FIELD if no_field else Reason.OTHER_TYPE) from error
    if not _only_has(rpc.json_of(message), whole):
        raise NotSent(Reason.NEVER_ABSENT)
    return message


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
    message = rpc.response_of(reply, operation.rpc.service, name)
    if operation.http.response is ResponseKind.IMAGE:
        record = rpc.json_of(message)
        headers["content-type"] = MEDIA_TYPES[record["format"]]
        return httpx.Response(200, content=record["image"], headers=headers)
    content: Any = shown(message)
    if operation.http.response is ResponseKind.LIST:
        if token := content.get("nextPageToken"):
            headers[NEXT_PAGE] = token
        content = content[operation.rpc.items]
    return httpx.Response(200, content=json.dumps(content), headers=headers)


def shown(message: Message) -> JsonObject:
    """A message as HTTP shows it: lists are there if empty, one integer is a text."""
    found = rpc.json_of(message)
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
