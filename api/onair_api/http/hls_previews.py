"""GET `/live/v2/preview/hls/{token}/{name}`: what players of HLS previews fetch. No token is logged."""

from __future__ import annotations

from fastapi import FastAPI
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.types import Receive, Scope, Send

from onair_api.errors import RpcError
from onair_api.http.responses import error_response
from onair_api.http.routes import NamedRoute
from onair_api.kubernetes_errors import rpc_error
from onair_api.live.source.hls import MASTER, MEDIA, PATH, HlsPreviews
from onair_crds.contract.previews import PLAYLIST_TYPE, SEGMENT_TYPE
from onair_crds.kube.errors import ApiError

NO_STORE = {"Cache-Control": "no-store"}
KEEP = {"Cache-Control": "private, max-age=60"}
"""Segments never change."""


def install(app: FastAPI, previews: HlsPreviews) -> None:
    """Adds the route of HLS previews to the application."""
    app.router.routes.append(NamedRoute(f"{PATH}/{{token}}/{{name}}", HlsPlayers(previews), methods=["GET"]))


class HlsPlayers:
    """An ASGI application."""

    def __init__(self, previews: HlsPreviews) -> None:
        self._previews = previews

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope)
        token, name = request.path_params["token"], request.path_params["name"]
        started = False

        async def begun() -> None:
            nonlocal started
            started = True

        try:
            if name in (MASTER, MEDIA):
                await (await self._playlist(token, name))(scope, receive, send)
                return
            async with self._previews.segment(token, name) as (size, parts):
                head = [
                    (b"content-type", SEGMENT_TYPE.encode()),
                    (b"content-length", str(size).encode()),
                    (b"cache-control", KEEP["Cache-Control"].encode()),
                ]
                await begun()
                await send({"type": "http.response.start", "status": 200, "headers": head})
                async for part in parts:
                    await send({"type": "http.response.body", "body": part, "more_body": True})
                await send({"type": "http.response.body", "body": b""})
        except OSError:  # the player went
            return
        except (RpcError, ApiError) as error:
            if started:
                # The rest is missing, which the length shows: uvicorn closes the connection
                return
            response = error_response(error if isinstance(error, RpcError) else rpc_error(error))
            response.headers.update(NO_STORE)
            await response(scope, receive, send)

    async def _playlist(self, token: str, name: str) -> Response:
        previews = self._previews
        text = await (previews.master(token) if name == MASTER else previews.playlist(token))
        return PlainTextResponse(text, headers=NO_STORE, media_type=PLAYLIST_TYPE)
