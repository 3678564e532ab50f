"""The streams for the operator, which follows, pulls, previews and disconnects them; and for readers."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable

from aiohttp import web

from onair_crds.contract.ingest_gateway import (
    PULLS_PATH,
    STREAMS_PATH,
    TERM_HEADER,
    gateway_token,
    term_of,
)
from onair_crds.contract.ingest_gateway import Pulls as Wanted
from onair_crds.contract.previews import PREVIEWS_PATH, PreviewRooms, RoomPreviews
from onair_crds.runtime.http_listener import listen
from onair_crds.runtime.rotated_secret import RotatedSecret
from onair_crds.runtime.until_one_ends import until_one_ends
from onair_ingest.hls.routes import HlsRoutes
from onair_ingest.leader_terms import LeaderTerms
from onair_ingest.mediamtx.client import MediaMtxUnavailable
from onair_ingest.previews.previews import Previews
from onair_ingest.pulls.pull_tasks import PullTasks
from onair_ingest.readers.routes import ReaderRoutes
from onair_ingest.streams.streams import Streams

MAX_PULLS = 64 * 1024 * 1024
"""Bytes: of ten thousand pulls with the longest urls that a source may have. Only the operator's are read."""
BODY_TIMEOUT_S = 10.0
Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class StreamsApi:
    def __init__(
        self,
        streams: Streams,
        pulls: PullTasks,
        previews: Previews,
        secret: RotatedSecret,
        *routes: ReaderRoutes | HlsRoutes,
    ) -> None:
        """
        Args:
            routes: for readers, each with the token of its stream.
        """
        self._streams = streams
        self._pulls = pulls
        self._previews = previews
        self._routes = routes
        self._terms = LeaderTerms()
        self._secret = secret

    async def start(self, port: int) -> web.AppRunner:
        """Listens on all addresses of the pod."""
        app = web.Application(client_max_size=MAX_PULLS)
        app.router.add_get(STREAMS_PATH, self._for_operator(self._follow))
        app.router.add_put(PULLS_PATH, self._for_operator(self._put_pulls))
        app.router.add_get(PREVIEWS_PATH, self._for_operator(self._get_previews))
        app.router.add_put(PREVIEWS_PATH + "/{room}", self._for_operator(self._put_previews))
        app.router.add_delete(STREAMS_PATH + "/{stream}", self._for_operator(self._disconnect))
        for routes in self._routes:
            routes.add_to(app)
        return await listen(app, None, port)

    def _for_operator(self, handler: Handler) -> Handler:
        async def guarded(request: web.Request) -> web.StreamResponse:
            if not self._secret.shown_by(_shown(request), _operators_token):
                return web.json_response({"message": "a token of the operator is required"}, status=401)
            return await handler(request)

        return guarded

    async def _follow(self, request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "application/x-ndjson"})
        await response.prepare(request)
        telling, _ = await until_one_ends(
            self._tell(response, _term(request)),
            self._secret.until_refused(_shown(request), _operators_token),
        )
        if not telling.cancelled():
            telling.result()
        return response

    async def _tell(self, response: web.StreamResponse, term: int | None) -> None:
        with contextlib.suppress(ConnectionError):
            async for line in self._streams.follow():
                self._terms.hear(term)
                await response.write(line.wire().encode() + b"\n")

    async def _put_pulls(self, request: web.Request) -> web.Response:
        body = await self._leaders_body(request)
        try:
            await self._pulls.set(Wanted.model_validate_json(body))
        except ValueError:  # its text may hold an address
            return web.json_response({"message": "not pulls"}, status=400)
        return web.Response(status=204)

    async def _get_previews(self, request: web.Request) -> web.Response:
        rooms = PreviewRooms(rooms=self._previews.rooms)
        return web.Response(text=rooms.wire(), content_type="application/json")

    async def _put_previews(self, request: web.Request) -> web.Response:
        body = await self._leaders_body(request)
        try:
            wanted = RoomPreviews.model_validate_json(body)
        except ValueError:  # its text may hold a token
            return web.json_response({"message": "not previews"}, status=400)
        self._previews.set(request.match_info["room"], wanted)
        return web.Response(status=204)

    async def _disconnect(self, request: web.Request) -> web.Response:
        self._refuse_former_leader(request)
        try:
            found = await self._streams.disconnect(request.match_info["stream"])
        except MediaMtxUnavailable as error:
            return web.json_response({"message": f"the ingest server: {error}"}, status=503)
        return web.Response(status=204 if found else 404)

    async def _leaders_body(self, request: web.Request) -> bytes:
        """What the operator that leads sends.

        Raises:
            web.HTTPException: it comes too late, or another one leads by now.
        """
        try:
            async with asyncio.timeout(BODY_TIMEOUT_S):
                body = await request.read()
        except TimeoutError:
            raise web.HTTPRequestTimeout(text="the request did not arrive in time") from None
        self._refuse_former_leader(request)  # now, as the body may have taken long
        return body

    def _refuse_former_leader(self, request: web.Request) -> None:
        if not self._terms.hear(_term(request)):
            raise web.HTTPConflict(text="another operator has begun to lead since")


def _shown(request: web.Request) -> str:
    return request.headers.get("Authorization", "")


def _operators_token(secret: bytes) -> str:
    return gateway_token(secret, "operator")


def _term(request: web.Request) -> int | None:
    return term_of(request.headers.get(TERM_HEADER, ""))
