"""The RPC door: gRPC-Web and Connect for the operations of the table, as one ASGI application.

The library speaks the protocols: frames, deadlines, trailers. Callers, messages and errors are the
operations' own. A request that its client gives up goes on to its end, as over HTTP: a change is never half
made because a page was closed.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from contextvars import ContextVar
from dataclasses import dataclass

from connectrpc.code import Code as WireCode
from connectrpc.errors import ConnectError
from connectrpc.method import IdempotencyLevel, MethodInfo, StreamType
from connectrpc.request import RequestContext
from connectrpc.server import ConnectASGIApplication, Endpoint
from google.protobuf.message import Message
from starlette.types import Receive, Scope, Send

from onair_api.auth.callers import CallHeaders
from onair_api.errors import Code
from onair_api.http.endpoint import call_headers
from onair_api.rpc.codecs import Binary, Json, Unparsed
from onair_api.rpc.content_types import content_type_of, refusal_of
from onair_api.rpc.errors import meaning_of, wire_error
from onair_api.rpc.method import Method
from onair_api.settings import LimitSettings

NO_METHOD = "/none"
"""Where requests for methods that do not exist are sent, to be refused in their own protocol."""

_PASSED_ON = (b"content-encoding", b"host", b"connect-", b"grpc-")
"""Beginnings of the headers that the protocols read; it decodes them as UTF-8, which others need not be."""


@dataclass
class Call:
    """What the layers around the library tell each other of one request."""

    headers: CallHeaders
    outcome: Code | None = None
    """The error that the operation ended with."""


Serving = Callable[[Unparsed, RequestContext[Unparsed, Message]], Awaitable[Message]]

_CALL: ContextVar[Call] = ContextVar("rpc_call")


class _Application(ConnectASGIApplication[None]):
    @property
    def path(self) -> str:
        return ""


class Door:
    def __init__(self, methods: Iterable[Method], limits: LimitSettings) -> None:
        self._methods = {each.path: each for each in methods}
        self._running: set[asyncio.Task[Message]] = set()
        endpoints = {
            path: Endpoint.unary(_info(method.service, method.name), self._serving(method))
            for path, method in self._methods.items()
        }
        endpoints[NO_METHOD] = Endpoint.unary(_info("none", "none"), _refuse)
        self._application = _Application(
            service=None,
            endpoints=lambda _: endpoints,
            read_max_bytes=limits.body_bytes,
            compressions=(),
            codecs=(Binary(), Json()),
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if response := refusal_of(scope):
            await response(scope, receive, send)
            return
        path = "/" + "/".join(scope["path"].rsplit("/", 2)[-2:])
        call = Call(call_headers(scope))
        token = _CALL.set(call)
        try:
            inner = {
                **scope,
                "path": path if path in self._methods else NO_METHOD,
                "root_path": "",
                "headers": [
                    (b"content-type", content_type_of(scope).encode()),
                    *(each for each in scope["headers"] if _is_passed_on(*each)),
                ],
            }
            await self._application(inner, receive, send)
        finally:
            _CALL.reset(token)
            if call.outcome:
                scope.setdefault("state", {})["rpc_error"] = call.outcome

    def _serving(self, method: Method) -> Serving:
        async def serve(request: Unparsed, context: RequestContext[Unparsed, Message]) -> Message:
            call = _CALL.get()
            task = asyncio.create_task(method(call.headers, request, context.response_headers))
            self._running.add(task)
            task.add_done_callback(self._ended)
            try:
                return await asyncio.shield(task)
            except Exception as error:  # noqa: BLE001 - the one place that must respond whatever happened
                meaning = meaning_of(error, method.operation)
                call.outcome = meaning.code
                for name, value in meaning.headers.items():
                    context.response_headers[name.lower()] = value
                raise wire_error(meaning) from None

        return serve

    def _ended(self, task: asyncio.Task[Message]) -> None:
        self._running.discard(task)
        if not task.cancelled():
            task.exception()  # told to the client, if it was still there


def _info(service: str, name: str) -> MethodInfo[Unparsed, Message]:
    return MethodInfo(
        name=name,
        service_name=service,
        input=Unparsed,
        output=Message,
        idempotency_level=IdempotencyLevel.UNKNOWN,
        stream_type=StreamType.UNARY,
    )


def _is_passed_on(name: bytes, value: bytes) -> bool:
    return name.startswith(_PASSED_ON) and value.isascii()


async def _refuse(request: Unparsed, context: RequestContext[Unparsed, Message]) -> Message:
    raise ConnectError(WireCode.UNIMPLEMENTED, "this interface has no such method")
