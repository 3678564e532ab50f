"""The RPC door: gRPC-Web and Connect for the operations of the table, as one ASGI application.

The library speaks the protocols: frames, deadlines, trailers. Callers, messages and errors are the
operations' own. A request that its client gives up continues to its end, as over HTTP: a change is never half
made because a page was closed.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import ExitStack
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, TypeVar

from connectrpc.code import Code as WireCode
from connectrpc.errors import ConnectError
from connectrpc.method import IdempotencyLevel, MethodInfo, StreamType
from connectrpc.request import RequestContext
from connectrpc.server import ConnectASGIApplication, Endpoint
from google.protobuf.message import Message
from starlette.types import Receive, Scope, Send

from onair_api.auth.callers import CallHeaders
from onair_api.connection.http2_streams import abortable_of
from onair_api.connection.http_connection import Abortable
from onair_api.errors import Code
from onair_api.http.endpoint import call_headers
from onair_api.http.response_pieces import in_pieces
from onair_api.rpc.connect_errors import meaning_of, wire_error
from onair_api.rpc.content_types import TEXTS, WEB, content_type_of, refusal_of
from onair_api.rpc.message_forms import BINARY, JSON, Encoded, Form, Unparsed, form_of
from onair_api.rpc.method import Method
from onair_api.rpc.stream import StreamMethod
from onair_api.rpc.web_text import decoded, encoding
from onair_api.settings import LimitSettings

NO_METHOD = "/none"
"""Where requests for methods that do not exist are sent, to be refused in their own protocol."""

_PASSED_ON = (b"content-encoding", b"host", b"connect-", b"grpc-")
"""Beginnings of the headers that the protocols read; it decodes them as UTF-8, which others need not be."""


@dataclass
class Call:
    """What the layers around the library pass to each other about one request."""

    headers: CallHeaders
    transport: Abortable | None
    form: Form
    outcome: Code | None = None
    """The error that the operation ended with."""
    service_id: str | None = None
    sending: ExitStack = field(default_factory=ExitStack)
    """Ends with the response."""

    def of_service(self, service_id: str) -> None:
        self.service_id = service_id


Serving = Callable[[Unparsed, RequestContext[Unparsed, Message]], Awaitable[Message]]

Streaming = Callable[[AsyncIterator[Unparsed], RequestContext[Unparsed, Encoded]], AsyncIterator[Encoded]]

R = TypeVar("R")

_CALL: ContextVar[Call] = ContextVar("rpc_call")


class _Application(ConnectASGIApplication[None]):
    @property
    def path(self) -> str:
        return ""


class Door:
    """Serves the methods of the table by gRPC-Web and Connect, as an ASGI application."""

    def __init__(self, methods: Iterable[Method | StreamMethod], limits: LimitSettings) -> None:
        self._methods = {each.path: each for each in methods}
        self._running: set[asyncio.Task[Message]] = set()
        unary = {
            each.path: Endpoint.unary(_info(each.service, each.name, Message), self._serving(each))
            for each in self._methods.values()
            if isinstance(each, Method)
        }
        unary[NO_METHOD] = Endpoint.unary(_info("none", "none", Message), _refuse)
        streams = {
            each.path: Endpoint.bidi_stream(
                _info(each.service, each.name, Encoded, StreamType.BIDI_STREAM), self._streaming(each)
            )
            for each in self._methods.values()
            if isinstance(each, StreamMethod)
        }
        self._body_bytes = limits.body_bytes
        self._application = _Application(
            service=None,
            endpoints=lambda _: {**unary, **streams},
            read_max_bytes=limits.body_bytes,
            compressions=(),
            codecs=(BINARY, JSON),
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if response := refusal_of(scope):
            await response(scope, receive, send)
            return
        call = Call(call_headers(scope), abortable_of(scope), form_of(content_type_of(scope)))
        token = _CALL.set(call)
        try:
            with call.sending:
                await self._serve(scope, receive, in_pieces(send))
        finally:
            _CALL.reset(token)
            if call.outcome:
                scope.setdefault("state", {})["rpc_error"] = call.outcome

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = "/" + "/".join(scope["path"].rsplit("/", 2)[-2:])
        content_type = content_type_of(scope)
        if content_type in TEXTS:
            content_type, receive, send = WEB, await decoded(receive, self._body_bytes), encoding(send)
        inner = {
            **scope,
            "path": path if path in self._methods else NO_METHOD,
            "root_path": "",
            "headers": [
                (b"content-type", content_type.encode()),
                *(each for each in scope["headers"] if _is_passed_on(*each)),
            ],
        }
        await self._application(inner, receive, send)

    def _streaming(self, method: StreamMethod) -> Streaming:
        async def serve(
            requests: AsyncIterator[Unparsed], context: RequestContext[Unparsed, Encoded]
        ) -> AsyncIterator[Encoded]:
            call = _CALL.get()
            try:
                async for message in method.messages(call.headers, call.transport, requests, call.form):
                    yield message
            except ConnectError:  # frames that are none: the library says so
                raise
            except Exception as error:  # noqa: BLE001 - the one place that must respond whatever happened
                raise self._wire_error(error, call, method.operation, context) from None

        return serve

    def _serving(self, method: Method) -> Serving:
        async def serve(request: Unparsed, context: RequestContext[Unparsed, Message]) -> Message:
            call = _CALL.get()
            task = asyncio.create_task(
                method(call.headers, request, context.response_headers, call.of_service)
            )
            self._running.add(task)
            task.add_done_callback(self._ended)
            try:
                message = await asyncio.shield(task)
                size = message.ByteSize()
                call.sending.enter_context(
                    method.responses.sending(call.service_id, size, refused=method.reads)
                )
                return message
            except Exception as error:  # noqa: BLE001 - the one place that must respond whatever happened
                raise self._wire_error(error, call, method.operation, context) from None

        return serve

    @staticmethod
    def _wire_error(
        error: Exception, call: Call, operation: str, context: RequestContext[Unparsed, Any]
    ) -> ConnectError:
        meaning = meaning_of(error, operation)
        call.outcome = meaning.code
        for name, value in meaning.headers.items():
            context.response_headers[name.lower()] = value
        return wire_error(meaning)

    def _ended(self, task: asyncio.Task[Message]) -> None:
        self._running.discard(task)
        if not task.cancelled():
            task.exception()  # told to the client, if it was still there


def _info(
    service: str, name: str, output: type[R], kind: StreamType = StreamType.UNARY
) -> MethodInfo[Unparsed, R]:
    return MethodInfo(
        name=name,
        service_name=service,
        input=Unparsed,
        output=output,
        idempotency_level=IdempotencyLevel.UNKNOWN,
        stream_type=kind,
    )


def _is_passed_on(name: bytes, value: bytes) -> bool:
    return name.startswith(_PASSED_ON) and value.isascii()


async def _refuse(request: Unparsed, context: RequestContext[Unparsed, Message]) -> Message:
    raise ConnectError(WireCode.UNIMPLEMENTED, "this interface has no such method")
