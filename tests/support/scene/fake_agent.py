"""An agent of tests: serves the built page and media, says what is drawn, and keeps what the page says."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Mapping
from typing import Any

from aiohttp import web
from tests.support.control_plane import free_port
from tests.support.loopback_server import on_loopback
from tests.support.scene.live_source import scripts
from tests.support.waiting import until

from onair_dev.tools import web as pages

Handler = Callable[[web.Request], Any]
WIDTH, HEIGHT = 320, 180


def layer(id_: str, type_: str, /, **given: object) -> dict[str, Any]:
    """A layer's record, as HTTP gives it."""
    record: dict[str, Any] = {"id": id_, "type": type_, "children": [], "hidden": False, "data": {}}
    record |= {"x": 0, "y": 0, "width": None, "height": None, "scale": 1, "rotation": 0, "opacity": 1}
    return record | given


def square(id_: str, colour: str, **given: object) -> dict[str, Any]:
    return layer(id_, "square", data={"backgroundColor": colour}, **given)


def scene(*layers: dict[str, Any], **given: object) -> dict[str, Any]:
    """A layout with a root that these layers are the children of, but for those that another one names."""
    named = {child for each in layers for child in each["children"] or ()}
    root = layer("root", "root", children=[each["id"] for each in layers if each["id"] not in named])
    layout: dict[str, Any] = {"id": "one", "version": 1, "type": "SCENE", "width": WIDTH, "height": HEIGHT}
    return layout | {"transitions": [], "layers": [root, *layers]} | given


def state(*layouts: dict[str, Any], **given: object) -> dict[str, Any]:
    """All that is to be drawn; the first layout is selected."""
    return {
        "type": "state",
        "canvas": {"width": WIDTH, "height": HEIGHT},
        "selectedLayoutId": layouts[0]["id"] if layouts else None,
        "debug": False,
        "targetLatencyMs": 500,
        "room": None,
        "roomKnown": True,
        "layouts": list(layouts),
        **given,
    }


class FakeAgent:
    def __init__(
        self, first: Mapping[str, Any], media: Mapping[str, Handler], port: int | None = None
    ) -> None:
        self.state = first
        self.said: list[dict[str, Any]] = []
        self.connections = 0
        self._sockets: set[web.WebSocketResponse] = set()
        self._media = media
        self.port = port or free_port()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @contextlib.asynccontextmanager
    async def serving(self) -> AsyncIterator[FakeAgent]:
        built = await asyncio.to_thread(pages.ensure)

        async def index(_: web.Request) -> web.FileResponse:
            return web.FileResponse(built / "compositor/index.html")

        application = web.Application()
        application.router.add_get("/scene", self._scene)
        application.router.add_get("/compositor/", index)
        application.router.add_static("/compositor", built / "compositor")
        for path, handler in {**scripts(), **self._media}.items():
            application.router.add_get(path, handler)
        async with on_loopback(application, self.port):
            try:
                yield self
            finally:
                await self.drop()

    async def _scene(self, request: web.Request) -> web.WebSocketResponse:
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        self.connections += 1
        await socket.send_json(self.state)
        self._sockets.add(socket)
        async for message in socket:
            self.said.append(message.json())
        self._sockets.discard(socket)
        return socket

    async def send(self, message: Mapping[str, Any]) -> None:
        """Sends to each page; a state is also what pages get that connect later."""
        if message["type"] == "state":
            self.state = message
        for socket in list(self._sockets):
            await socket.send_json(message)

    async def change(
        self,
        version: int,
        *upsert: dict[str, Any],
        remove: tuple[str, ...] = (),
        animation: object = None,
        layout: str = "one",
    ) -> None:
        message = {"type": "layers", "layoutId": layout, "version": version, "animation": animation}
        await self.send({**message, "upsert": list(upsert), "remove": list(remove)})

    async def drop(self) -> None:
        """Closes all connections."""
        for socket in list(self._sockets):
            await socket.close()

    async def reconnected(self, timeout_s: float = 10) -> None:
        """Closes all connections; returns once the page is back."""
        connections = self.connections
        await self.drop()
        await until(lambda: self.connections > connections, "the page is back", timeout_s)

    async def heard(
        self, what: str, condition: Callable[[dict[str, Any]], object], timeout_s: float = 20
    ) -> dict[str, Any]:
        """The last message of the page's of which the condition holds, once there is one."""

        def last() -> dict[str, Any] | None:
            return next((message for message in reversed(self.said) if condition(message)), None)

        return await until(last, f"the page says {what}", timeout_s, state=lambda: self.said[-5:])

    async def ready(self) -> None:
        await self.heard("ready", lambda message: message["type"] == "ready")
