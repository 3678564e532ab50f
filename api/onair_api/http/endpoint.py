"""One operation over HTTP: who calls, the request message from body and query, the response."""

from __future__ import annotations

import functools

import orjson
from starlette.requests import ClientDisconnect, Request
from starlette.types import Receive, Scope, Send

from onair_api.auth.callers import Caller, Callers, CallHeaders, service_of
from onair_api.errors import InvalidArgument, Violation
from onair_api.http.query import query_fields
from onair_api.http.response_pieces import in_pieces
from onair_api.http.responses import responder
from onair_api.http.unknown_fields import Known, unknown_fields, warning_of
from onair_api.operation import AnyOperation
from onair_api.settings import LimitSettings
from onair_api.wire.depth import is_deeper_than
from onair_api.wire.occurrences import count_up_to
from onair_crds.runtime.steps import at_once, done
from onair_crds.shapes import JsonObject

SMALL_BYTES = 10_000
"""Of a body that takes no steps, so that it does not wait for others of its service."""


class Endpoint:
    """Serves one operation, as an ASGI application."""

    def __init__(
        self, operation: AnyOperation, service: object, callers: Callers, limits: LimitSettings, known: Known
    ) -> None:
        """
        Args:
            known: fields of request bodies that do not get a warning.
        """
        self._caller = functools.partial(operation.access.caller, callers, operation.name)
        self._serve = functools.partial(operation.service.function, service)
        self._callers, self._responses = callers, callers.responses
        self._reads = operation.http.method == "GET"
        self._respond = responder(operation.http.response)
        self._has_body = operation.messages.has_body
        self._query = operation.messages.query
        self._limits = limits
        self._known = known

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        caller = await self._caller(call_headers(scope))
        if isinstance(caller, Caller) and caller.renewed_token:
            scope.setdefault("state", {})["renewed_token"] = caller.renewed_token
        if service_id := service_of(caller):
            self._callers.begin(service_id)
        message, warning = await self._body(caller, scope, receive) if self._has_body else ({}, None)
        if self._query:
            message.update(query_fields(self._query, scope["query_string"]))
        response = self._respond(await self._serve(caller, scope["path_params"], message), scope)
        if warning:
            response.headers["Warning"] = warning
        with self._responses.sending(service_id, len(response.body), refused=self._reads):
            await response(scope, receive, in_pieces(send))

    async def _body(self, caller: object, scope: Scope, receive: Receive) -> tuple[JsonObject, str | None]:
        """The message, and the warning about what it has that nobody reads."""
        raw = await read_body(Request(scope, receive), self._limits)
        async with self._callers.in_order(caller):
            message = await decoded(raw, self._limits)
            warning = warning_of(unknown_fields(self._known, message))
            return message, await done(warning) if len(raw) > SMALL_BYTES else at_once(warning)


async def read_object(request: Request, limits: LimitSettings) -> JsonObject:
    """The body, a JSON object of bounded size and depth whatever its content type; empty if absent.

    Raises:
        InvalidArgument: it is too large, no JSON, nested too deeply, or no object.
    """
    return await decoded(await read_body(request, limits), limits)


async def decoded(raw: bytes, limits: LimitSettings) -> JsonObject:
    """The JSON object that a body is, of bounded depth; empty if there is none.

    Raises:
        InvalidArgument: it is no JSON, nested too deeply, or no object.
    """
    if not raw.strip():
        return {}
    try:
        value = orjson.loads(raw)
    except orjson.JSONDecodeError as error:
        place = f"line {error.lineno} column {error.colno}"
        raise InvalidArgument(
            Violation("", f"the body is not valid JSON ({error.msg[:100]}, {place})")
        ) from None
    if not isinstance(value, dict):
        raise InvalidArgument(Violation("", "the body must be a JSON object"))
    deepest = limits.json_depth
    containers = sum(count_up_to(raw, each, deepest + 1) for each in (b"{", b"["))
    if containers > deepest and await done(is_deeper_than(value, deepest)):
        raise InvalidArgument(Violation("", f"the body is nested deeper than {deepest} levels"))
    return value


async def read_body(request: Request, limits: LimitSettings) -> bytes:
    """All of a body, of bounded size.

    Raises:
        InvalidArgument: it is too large, or incomplete.
    """
    limit = limits.body_bytes
    too_large = InvalidArgument(Violation("", f"the body is larger than {limit} bytes"))
    declared = request.headers.get("content-length", "")
    if declared.isdecimal() and len(declared) < 19 and int(declared) > limit:
        raise too_large
    parts: list[bytes] = []
    size = 0
    try:
        async for part in request.stream():
            size += len(part)
            if size > limit:
                raise too_large
            parts.append(part)
    except ClientDisconnect:
        raise InvalidArgument(Violation("", "the body is incomplete")) from None
    return b"".join(parts)


def call_headers(scope: Scope) -> CallHeaders:
    """Credentials and session of a request; of a header that comes twice the first counts."""
    found: dict[bytes, str] = {}
    for name, value in scope["headers"]:
        if name in _READ and name not in found:
            found[name] = value.decode("latin-1")
    return CallHeaders(
        found.get(b"authorization"),
        found.get(b"x-api-key"),
        found.get(b"sessionid") or found.get(b"apistream-sessionid"),
    )


_READ = frozenset({b"authorization", b"x-api-key", b"sessionid", b"apistream-sessionid"})
