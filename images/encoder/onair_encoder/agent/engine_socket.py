"""The socket by which pages of the studio hear of sources and destinations: `ws://127.0.0.1:8000`.

JSON text, only from here to the page: at first `state`, then `source.connect` and `source.disconnect` as
sources come and go. Such a page reconnects by itself, after a second.
"""

from __future__ import annotations

import asyncio
import json

from aiohttp import web

from onair_encoder.agent.agent import Agent
from onair_encoder.scene.page_socket import HEARTBEAT_S


class EngineSocket:
    def __init__(self, agent: Agent) -> None:
        self._agent = agent

    def add_to(self, app: web.Application) -> None:
        app.router.add_get("/{path:.*}", self._serve)

    async def _serve(self, request: web.Request) -> web.StreamResponse:
        origin = request.headers.get("Origin")
        if origin is None or origin != self._agent.page.origin:
            raise web.HTTPForbidden(text="only the composition page of this broadcast may connect")
        socket = web.WebSocketResponse(heartbeat=HEARTBEAT_S, compress=False)
        await socket.prepare(request)
        telling = asyncio.create_task(self._tell(socket))
        try:
            async for _ in socket:
                pass
        finally:
            telling.cancel()
            await asyncio.gather(telling, return_exceptions=True)
        return socket

    async def _tell(self, socket: web.WebSocketResponse) -> None:
        agent = self._agent
        known = set(agent.sources.connected)
        await _send(
            socket,
            "state",
            destinations=[
                {"id": each.wanted.id, "connected": each.is_connected} for each in agent.destinations
            ],
            sources=[{"id": source, "connected": True} for source in sorted(known)],
        )
        version = -1
        while True:
            version = await agent.changes.after(version)
            connected = set(agent.sources.connected)
            for source in sorted(known - connected):
                await _send(socket, "source.disconnect", id=source)
            for source in sorted(connected - known):
                await _send(socket, "source.connect", id=source)
            known = connected


async def _send(socket: web.WebSocketResponse, name: str, **payload: object) -> None:
    await socket.send_str(json.dumps({"name": name, "payload": payload}))
