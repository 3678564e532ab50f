"""The route of the RPC door: one for all methods, which metrics and logs distinguish by their paths."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from fastapi import FastAPI
from starlette.routing import Match, Route
from starlette.types import Scope

from onair_api.auth.callers import Callers
from onair_api.event.stream.message_stream import MessageStreams
from onair_api.operation import AnyOperation, StreamOperation
from onair_api.rpc.door import Door
from onair_api.rpc.method import Method
from onair_api.rpc.stream import StreamMethod
from onair_api.settings import LimitSettings
from onair_api.wire.schema import Schemas

PREFIXES = {"live.v21": "live", "apis.layout.v2": "layout", "apis.event.v2": "event"}
"""Of the paths, by package."""
ROOT = "/grpcweb"


def install(
    app: FastAPI,
    operations: Iterable[AnyOperation | StreamOperation],
    service: Callable[[type[Any]], Any],
    callers: Callers,
    limits: LimitSettings,
    schemas: Schemas,
) -> None:
    """Adds the methods of every operation, and what responds to methods that are not there.

    Args:
        service: gives the running service of a class.
        schemas: of the messages.
    """
    methods: list[Method | StreamMethod] = [
        StreamMethod(each, service(MessageStreams), limits)
        if isinstance(each, StreamOperation)
        else Method(each, service(each.service.owner), callers, limits, schemas)
        for each in operations
    ]
    door = Door(methods, limits)
    paths = [path_of(each) for each in operations]
    app.router.routes.insert(0, _DoorRoute(door, paths))


class _Named(NamedTuple):
    path: str


class _DoorRoute(Route):
    """Finds a method by its path as a whole, where a route for each would be tried one after another."""

    def __init__(self, door: Door, paths: Iterable[str]) -> None:
        super().__init__(ROOT + "/{rest:path}", door, methods=["POST"])
        self._named = {path: _Named(path) for path in paths}

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        match, child_scope = super().matches(scope)
        if match is not Match.NONE:
            child_scope["route"] = self._named.get(scope["path"], self)
            child_scope["path_params"] = {}
        return match, child_scope


def path_of(operation: AnyOperation | StreamOperation) -> str:
    """Where an operation is served."""
    return root_of(operation.rpc.service) + operation.rpc_path


def root_of(service: str) -> str:
    """The url that clients of a service are given, below the facade's own."""
    return f"{ROOT}/{PREFIXES[service.rpartition('.')[0]]}/v2"
