"""The outermost layer of a request: counts and times it, logs what matters, and responds to unhandled errors.

Pure ASGI: a layer that builds request and response objects costs more than the
whole of a cached read.
"""

from __future__ import annotations

import itertools
import re
import secrets
import time
from collections.abc import Collection
from typing import Any

import orjson
import structlog
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from onair_api.errors import Code, Internal
from onair_api.logs import REQUEST
from onair_api.metrics import LATENCY, REQUESTS
from onair_api.operation import BODILESS
from onair_api.unexpected_errors import log_unexpected

log = structlog.get_logger()

REQUEST_ID = b"x-request-id"
"""Names a request in its response and in its log lines; the caller's own is kept where it is harmless."""
_PROCESS, _NUMBERS = secrets.token_hex(5), itertools.count(1)
_HARMLESS = re.compile(rb"[A-Za-z0-9_.:-]{1,64}")

METHODS = frozenset({"GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE"})
"""What is counted by name: over HTTP/2 a method may be any text, and each would be kept."""
QUIET = frozenset({"GET", "HEAD", "OPTIONS"})
SECRET_PARAMETERS = frozenset({"code", "token"})
"""Path parameters that admit anyone who knows them: in no log line."""


class RequestLog:
    def __init__(self, app: ASGIApp, streams: Collection[str] = ()) -> None:
        """
        Args:
            streams: routes whose responses do not end.
        """
        self._app = app
        self._streams = streams
        self._counters: dict[tuple[str, str, int], Any] = {}
        self._timers: dict[str, Any] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started = time.perf_counter()
        request_id = _request_id(scope)
        REQUEST.set(request_id)  # only of this request's task
        method: str = scope["method"] if scope["method"] in METHODS else "other"
        bodiless = method == "HEAD"
        if bodiless:
            scope = {
                **scope,
                "method": "GET",
                BODILESS: True,
            }  # a copy: the server reads its own to know that no body comes
        status = 0

        async def observed(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message = _with_renewed_token(message, scope)
                message["headers"].append((REQUEST_ID, request_id.encode()))
            elif bodiless:
                message = {**message, "body": b""}
            await send(message)

        try:
            await self._app(scope, receive, observed)
        except Exception as error:  # noqa: BLE001 - the one place that must respond whatever happened
            log_unexpected("http.failed", error, route=getattr(scope.get("route"), "path", "none"))
            if not status:
                await _respond_internal(observed)
        finally:
            self._observe(method, scope, status, time.perf_counter() - started)

    def _observe(self, method: str, scope: Scope, status: int, seconds: float) -> None:
        status = _meant_status(scope, status)
        route: str = getattr(scope.get("route"), "path", "none")
        key = (method, route, status)
        counter = self._counters.get(key)
        if counter is None:
            counter = self._counters[key] = REQUESTS.labels(method, route, str(status))
        counter.inc()
        if route not in self._streams:  # whose life is no latency
            timer = self._timers.get(route)
            if timer is None:
                timer = self._timers[route] = LATENCY.labels(route)
            timer.observe(seconds)
        if status >= 500 or (method not in QUIET and route != "none"):
            cause = (scope.get("state") or {}).get("cause")
            log.info(
                "http.request",
                method=method,
                route=route,
                ids={k: v for k, v in (scope.get("path_params") or {}).items() if k not in SECRET_PARAMETERS},
                status=status,
                ms=round(seconds * 1000, 1),
                **({"cause": type(cause).__name__, "reason": cause.reason} if cause is not None else {}),
            )


def _request_id(scope: Scope) -> str:
    for name, value in scope["headers"]:
        if name == REQUEST_ID and _HARMLESS.fullmatch(value):
            given: str = value.decode()
            return given
    return f"{_PROCESS}{next(_NUMBERS):06x}"


def _with_renewed_token(message: Message, scope: Scope) -> Message:
    """Clients take a successor of their token from this header of any response."""
    token = (scope.get("state") or {}).get("renewed_token")
    if token is None:
        return message
    headers = message["headers"]
    if any(name == b"authorization" for name, _ in headers):
        return message
    return {**message, "headers": [*headers, (b"authorization", f"Bearer {token}".encode())]}


def _meant_status(scope: Scope, status: int) -> int:
    """The status that HTTP would have said: gRPC says every error with 200."""
    error: Code | None = (scope.get("state") or {}).get("rpc_error")
    return error.http_status if error and status == 200 else status


async def _respond_internal(send: Send) -> None:
    body = orjson.dumps(Internal("internal error; it was logged").body())
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": 500, "headers": headers})
    await send({"type": "http.response.body", "body": body})
