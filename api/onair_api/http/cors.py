"""Browsers of other origins, and OPTIONS in general. No cookies are used, so any origin may be let in."""

from __future__ import annotations

from fastapi import FastAPI
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from onair_api.http.allowed_methods import allowed_methods
from onair_api.settings import CorsSettings

ALLOWED_HEADERS = (
    "Authorization",
    "X-API-Key",
    "Content-Type",
    "ClientType",
    "Version",
    "SdkVersion",
    "SessionId",
    "X-Requested-With",
    "X-Grpc-Web",
    "Grpc-Timeout",
    "X-User-Agent",
    "Connect-Protocol-Version",
    "Connect-Timeout-Ms",
)
ALLOWED_PREFIX = "apistream-"
METHODS = "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS"
EXPOSED = (
    b"Authorization, Retry-After, Warning, X-Next-Page-Token, "
    b"Grpc-Status, Grpc-Message, Grpc-Status-Details-Bin"
)

_KNOWN = {name.lower() for name in ALLOWED_HEADERS}


class Cors:
    def __init__(self, app: ASGIApp, api: FastAPI, settings: CorsSettings) -> None:
        self._app = app
        self._api = api
        self._any = "*" in settings.origins
        self._origins = frozenset(settings.origins)
        self._max_age = str(settings.max_age_s).encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        origin = None
        for name, value in scope["headers"]:
            if name == b"origin":
                origin = value
                break
        added = self._origin_headers(origin)
        if scope["method"] == "OPTIONS":
            await self._options(scope, send, added)
            return
        if not added:
            await self._app(scope, receive, send)
            return

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                message = {**message, "headers": [*message["headers"], *added]}
            await send(message)

        await self._app(scope, receive, with_headers)

    def _origin_headers(self, origin: bytes | None) -> list[tuple[bytes, bytes]]:
        if self._any:
            return (
                [
                    (b"access-control-allow-origin", b"*"),
                    (b"access-control-expose-headers", EXPOSED),
                ]
                if origin
                else []
            )
        vary = [(b"vary", b"Origin")]
        if origin is None or origin.decode("latin-1") not in self._origins:
            return vary
        return [
            (b"access-control-allow-origin", origin),
            (b"access-control-expose-headers", EXPOSED),
            *vary,
        ]

    async def _options(self, scope: Scope, send: Send, added: list[tuple[bytes, bytes]]) -> None:
        methods = allowed_methods(self._api, scope)
        headers = [*added, (b"allow", ", ".join(methods).encode() or METHODS.encode())]
        request = Headers(scope=scope)
        if "access-control-request-method" in request and any(n.endswith(b"allow-origin") for n, _ in added):
            asked = request.get("access-control-request-headers", "")
            headers += [
                (b"access-control-allow-methods", METHODS.encode()),
                (b"access-control-allow-headers", allowed_headers(asked).encode("latin-1")),
                (b"access-control-max-age", self._max_age),
            ]
        await send({"type": "http.response.start", "status": 204, "headers": headers})
        await send({"type": "http.response.body", "body": b""})


def allowed_headers(asked: str) -> str:
    """The fixed list, and those asked for whose prefix is allowed."""
    names = [name.strip() for name in asked.split(",")]
    extra = [
        n
        for n in names
        if n.lower().startswith(ALLOWED_PREFIX) and n.replace("-", "").isalnum() and n.lower() not in _KNOWN
    ]
    return ", ".join([*ALLOWED_HEADERS, *extra])
