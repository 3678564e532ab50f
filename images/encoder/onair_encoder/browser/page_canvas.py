"""Gives a browser's page its size: its window's, or an emulated one where windows do not get so small."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable

from onair_crds.runtime.stderr_log import log
from onair_encoder.browser import x_screen
from onair_encoder.browser.cdp_messages import Message

FIT_S = 0.5
"""A page takes the size of its window within some 30 ms, or not at all."""


class PageCanvas:
    def __init__(self, call: Callable[..., Awaitable[Message]]) -> None:
        """
        Args:
            call: of the page's session.
        """
        self._call = call
        self._size: tuple[int, int] | None = None
        self._emulates = False

    async def resize(self, width: int, height: int) -> None:
        """Makes it that size, at the top left of the screen; the page is not loaded again.

        Raises:
            CdpClosed: the browser has ended.
        """
        before = self._size
        if before == (width, height):
            return
        if before and self._emulates:
            await asyncio.to_thread(x_screen.resize_window, max(before[0], width), max(before[1], height))
        await asyncio.to_thread(x_screen.resize_window, width, height)
        await self._emulate(None if await self._fits(width, height) else (width, height))
        self._size = (width, height)

    async def _fits(self, width: int, height: int) -> bool:
        """Whether the page takes the size of the window, without any emulation."""
        if self._emulates:
            await self._emulate(None)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(FIT_S):
                while True:
                    layout = (await self._call("Page.getLayoutMetrics"))["cssLayoutViewport"]
                    if (layout["clientWidth"], layout["clientHeight"]) == (width, height):
                        return True
                    await asyncio.sleep(FIT_S / 50)
        return False

    async def _emulate(self, size: tuple[int, int] | None) -> None:
        """Shows the page in a size that is not its window's. That costs a renderer time with each frame."""
        if size:
            log("page.emulated", width=size[0], height=size[1])
            metrics = {"width": size[0], "height": size[1], "deviceScaleFactor": 1, "mobile": False}
            await self._call("Emulation.setDeviceMetricsOverride", metrics)
        elif self._emulates:
            await self._call("Emulation.clearDeviceMetricsOverride")
        self._emulates = size is not None
