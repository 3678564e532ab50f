"""Passes a gateway's playlist on to players, as the facade does."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator

import aiohttp
from aiohttp import web
from tests.support.ingest.ingest_pod import IngestPod
from tests.support.loopback_server import on_loopback

from onair_crds.contract.ingest_gateway import STREAMS_PATH, reader_token, stream_of_key
from onair_crds.contract.previews import HLS_PLAYLIST, HLS_SUFFIX


@contextlib.asynccontextmanager
async def relayed(pod: IngestPod, key: str) -> AsyncIterator[str]:
    """The gateway's playlist without a token, as the facade passes it on."""
    stream = stream_of_key(key)
    gateway = f"http://127.0.0.1:{pod.port}{STREAMS_PATH}/{stream}{HLS_SUFFIX}"
    headers = {"Authorization": f"Bearer {reader_token(pod.secret, stream)}"}
    async with aiohttp.ClientSession(headers=headers) as session:

        async def pass_on(request: web.Request) -> web.Response:
            async with session.get(f"{gateway}/{request.match_info['name']}") as response:
                body, kind = await response.read(), response.content_type
                allowed = {"Access-Control-Allow-Origin": "*"}
                return web.Response(body=body, status=response.status, content_type=kind, headers=allowed)

        app = web.Application()
        app.router.add_get("/{name}", pass_on)
        async with on_loopback(app) as address:
            yield f"{address}/{HLS_PLAYLIST}"
