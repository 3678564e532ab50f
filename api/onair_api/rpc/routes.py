"""The routes of the RPC door: one for each operation, so that metrics and logs name it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from fastapi import FastAPI

from onair_api.auth.callers import Callers
from onair_api.event.stream.message_stream import MessageStreams
from onair_api.http.routes import NamedRoute
from onair_api.operation import AnyOperation, StreamOperation
from onair_api.rpc.door import Door
from onair_api.rpc.method import Method
from onair_api.rpc.stream import StreamMethod
from onair_api.settings import LimitSettings

PREFIXES = {"live.v21": "live", "apis.layout.v2": "layout", "apis.event.v2": "event"}
"""Of the paths, by package."""
ROOT = "/grpcweb"


def install(
    app: FastAPI,
    operations: Iterable[AnyOperation | StreamOperation],
    service: Callable[[type[Any]], Any],
    callers: Callers,
    limits: LimitSettings,
) -> None:
    """Adds the methods of every operation, and one route for all that is not there.

    Args:
        service: gives the running service of a class.
    """
    methods: list[Method | StreamMethod] = [
        StreamMethod(each, service(MessageStreams), limits)
        if isinstance(each, StreamOperation)
        else Method(each, service(each.service.owner), callers, limits)
        for each in operations
    ]
    door = Door(methods, limits)
    paths = [f"{root_of(each.service)}{each.path}" for each in methods]
    app.router.routes += [
        NamedRoute(path, door, methods=["POST"]) for path in (*paths, ROOT + "/{rest:path}")
    ]


def root_of(service: str) -> str:
    """The url that clients of a service are given, below the facade's own."""
    return f"{ROOT}/{PREFIXES[service.rpartition('.')[0]]}/v2"
