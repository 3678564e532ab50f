"""The routes of the table: each operation as an ASGI application, made once at start-up.

They stand in the application's own list of routes and not in routers within it, which FastAPI would search
at every request.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from fastapi import FastAPI
from starlette.routing import Match, Route, WebSocketRoute
from starlette.types import Scope

from onair_api.auth.callers import Callers
from onair_api.http.endpoint import Endpoint
from onair_api.http.unknown_fields import known_fields
from onair_api.operation import AnyOperation, Http, StreamOperation
from onair_api.settings import LimitSettings
from onair_api.wire.schema import Schemas


def install(
    app: FastAPI,
    operations: Iterable[AnyOperation | StreamOperation],
    service: Callable[[type[Any]], Any],
    callers: Callers,
    limits: LimitSettings,
    schemas: Schemas,
) -> None:
    """Adds every operation's routes.

    Args:
        service: gives the running service of a class.
        schemas: of the messages.
    """
    routes = app.router.routes
    for operation in operations:
        if isinstance(operation, StreamOperation):
            path, method = operation.http.path, operation.http.method
            routes.append(NamedRoute(path, service(operation.http_app), methods=[method]))
            routes.append(WebSocketRoute(path, service(operation.websocket_app)))
            continue
        known = known_fields(operation.messages, schemas) if operation.messages.has_body else {}
        endpoint = Endpoint(operation, service(operation.service.owner), callers, limits, known)
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
    """A route that is in the scope of its requests: metrics and the request log name its path."""

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        match, child_scope = super().matches(scope)
        child_scope["route"] = self
        return match, child_scope
