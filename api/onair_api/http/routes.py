"""The routes of the table: each operation as an ASGI application, made once at start-up.

They stand in the application's own list of routes and not in routers within it, which FastAPI would search
at every request.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import Any

from fastapi import FastAPI
from starlette.requests import Request
from starlette.routing import Match, Route, WebSocketRoute
from starlette.types import Receive, Scope, Send

from onair_api.auth.callers import Caller, Callers, CallHeaders
from onair_api.http.body import read_object
from onair_api.http.query import query_fields
from onair_api.http.responses import responder
from onair_api.operation import AnyOperation, Http, StreamOperation
from onair_api.settings import LimitSettings
from onair_crds.shapes import JsonObject


def install(
    app: FastAPI,
    operations: Iterable[AnyOperation | StreamOperation],
    service: Callable[[type[Any]], Any],
    callers: Callers,
    limits: LimitSettings,
) -> None:
    """Adds every operation's routes.

    Args:
        service: gives the running service of a class.
    """
    routes = app.router.routes
    for operation in operations:
        if isinstance(operation, StreamOperation):
            path, method = operation.http.path, operation.http.method
            routes.append(NamedRoute(path, service(operation.http_app), methods=[method]))
            routes.append(WebSocketRoute(path, service(operation.websocket_app)))
            continue
        endpoint = Endpoint(operation, service(operation.service.owner), callers, limits)
        routes += [
            NamedRoute(path, endpoint, methods=[method]) for method, path in methods_and_paths(operation.http)
        ]


def methods_and_paths(http: Http) -> list[tuple[str, str]]:
    """Where an operation is served; the first is the documented one."""
    found = [(http.method, http.path)]
    if http.alternate_method:
        found.append((http.alternate_method, http.path))
    if http.alternate_path:
        found.append((http.method, http.alternate_path))
    return found


class NamedRoute(Route):
    """A route that stands in the scope of its requests: metrics and the request log name its path."""

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        match, child_scope = super().matches(scope)
        child_scope["route"] = self
        return match, child_scope


class Endpoint:
    """One operation: who calls, what they ask for, what the service says, as a response."""

    def __init__(
        self, operation: AnyOperation, service: object, callers: Callers, limits: LimitSettings
    ) -> None:
        self._caller = functools.partial(operation.access.caller, callers, operation.name)
        self._serve = functools.partial(operation.service.function, service)
        self._respond = responder(operation.http.response)
        self._has_body = operation.messages.has_body
        self._query = operation.messages.query
        self._limits = limits

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        caller = await self._caller(call_headers(scope))
        if isinstance(caller, Caller) and caller.renewed_token:
            scope.setdefault("state", {})["renewed_token"] = caller.renewed_token
        message = await self._message(scope, receive)
        response = await self._serve(caller, scope["path_params"], message)
        await self._respond(response, scope)(scope, receive, send)

    async def _message(self, scope: Scope, receive: Receive) -> JsonObject:
        """The request message: the body's fields and those of the query."""
        message = await read_object(Request(scope, receive), self._limits) if self._has_body else {}
        if self._query:
            message.update(query_fields(self._query, scope["query_string"]))
        return message


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
