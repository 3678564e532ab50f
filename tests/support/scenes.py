"""Small scenes, and a page that is told them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
from tests.support.small_program import small_program

from onair_crds.contract.pod import COMPOSITOR_URL, SCENE_PATH
from onair_crds.contract.program import Program
from onair_crds.contract.scene import ProgramLayout, ProgramScene, SceneLayer
from onair_crds.shapes import JsonObject

OURS = "http://127.0.0.1:8450"
"""The origin of the built-in page."""
ROOT = SceneLayer(id="root", type="root", children=["left"])


def layer(id: str, **fields: Any) -> SceneLayer:
    return SceneLayer(**{"id": id, "type": "square", **fields})


def layout(version: int, *layers: SceneLayer, id: str = "stage", **fields: Any) -> ProgramLayout:
    """A scene of a root and the square `left`, or of other layers."""
    return ProgramLayout(
        **{
            "id": id,
            "resource_version": version,
            "type": "SCENE",
            "width": 1280,
            "height": 720,
            "layers": list(layers) or [ROOT, layer("left")],
            **fields,
        }
    )


def scene(*layouts: ProgramLayout, **fields: Any) -> ProgramScene:
    """With the layout `stage` selected."""
    return ProgramScene(**{"selected_layout_id": "stage", "layouts": list(layouts), **fields})


def scene_program(wanted: ProgramScene | None = None, **fields: object) -> Program:
    """Of the built-in page."""
    return small_program(composition_url=COMPOSITOR_URL, scene=wanted, **fields)


class PageConnection:
    """One connection of a page's to the agent."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        self.socket = socket

    @classmethod
    @asynccontextmanager
    async def connected(cls, agent: str, origin: str = OURS) -> AsyncIterator[PageConnection]:
        """
        Args:
            agent: http address of its loopback port.
        """
        async with (
            aiohttp.ClientSession() as session,
            session.ws_connect(f"{agent}{SCENE_PATH}", headers={"Origin": origin}) as socket,
        ):
            yield cls(socket)

    async def told(self, timeout_s: float = 5.0) -> JsonObject:
        """The next message."""
        async with asyncio.timeout(timeout_s):
            message: JsonObject = json.loads(await self.socket.receive_str())
            return message

    async def say(self, type_: str, **fields: Any) -> None:
        await self.socket.send_str(json.dumps({"type": type_, **fields}))
