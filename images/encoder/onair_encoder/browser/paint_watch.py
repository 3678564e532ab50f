"""Measures how long what a page paints takes to the screen, and has it paint as often as that asks for."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from functools import partial
from statistics import median
from typing import Any

from onair_crds.runtime.stderr_log import log
from onair_encoder.browser.cdp import CdpClosed, CdpTimeout
from onair_encoder.browser.chromium import Chromium
from onair_encoder.browser.frame_trace import Trace
from onair_encoder.browser.paint_rate import PaintRate
from onair_encoder.browser.x_screen import set_refresh

PAUSE_MIN_S, PAUSE_MAX_S, REDUCED_PAUSE_MAX_S = 0.5, 10.0, 2.5
"""Between measurements of a page's paints: soon after it was loaded, then rarely; more often where each frame
has but one."""
TRACE_S, REDUCED_TRACE_S = 0.3, 0.6
"""Length of a measurement, of about 18 paints."""
WORTH_LOGGING_MS = 8.0
"""Half a frame of Chromium's."""


class PaintWatch:
    """Knows how a browser's pages paint, and gives the screen its rate.

    Args:
        changed: called when there is another measurement, or rate.
    """

    def __init__(self, changed: Callable[[], None]) -> None:
        self.delays_ms: list[float] = []
        """Of some frames; empty while unknown."""
        self.tick_us: int | None = None
        """The time between two paints that the screen was set to; None while that is left to it."""
        self._rate = PaintRate()
        self._changed = changed
        self._applying = asyncio.Lock()

    async def want(self, request: dict[str, Any]) -> None:
        """Takes the rates of a programme from the agent's request, and gives the screen the one in force."""
        self._rate.want(request.get("tickUs"), request.get("reducedTickUs"))
        await self._apply()

    async def _apply(self) -> None:
        async with self._applying:
            wanted_us = self._rate.tick_us
            if wanted_us is None or not await asyncio.to_thread(set_refresh, wanted_us):
                return
            if self.tick_us != wanted_us:
                self.tick_us = wanted_us
                self._changed()

    def following(self, chromium: Chromium, loaded: Callable[[], str | None]) -> asyncio.Task[None]:
        """Starts to follow a browser. One that can be followed no more is taken for lost."""

        def ended(task: asyncio.Task[None]) -> None:
            if not task.cancelled() and (error := task.exception()):
                log("page.paints-unknown", error=f"{type(error).__name__}: {error}")
                chromium.lost.set()

        task = asyncio.create_task(self._follow(chromium, loaded), name="paints")
        task.add_done_callback(ended)
        return task

    async def _follow(self, chromium: Chromium, loaded: Callable[[], str | None]) -> None:
        """Measures a browser's page again and again: Chromium may fall a frame behind at any time, for long.

        Args:
            loaded: the page that is shown; None while there is none.
        """
        self._rate.begin()
        page: str | None = None
        pause_s = PAUSE_MIN_S
        while True:
            await self._pause(pause_s, partial(self._is_due, chromium, loaded, page))
            if loaded() != page:
                page, pause_s = loaded(), PAUSE_MIN_S
                self._rate.begin()
                await self._apply()
                continue
            if page is None:
                continue
            try:
                trace = await chromium.trace_frames(REDUCED_TRACE_S if self._rate.reduced else TRACE_S)
            except CdpTimeout:  # it may be busy, and is judged by `check`
                trace = None
            except CdpClosed:
                return
            if loaded() == page:
                pause_s = await self._take(trace, pause_s, time_based=chromium.time_based)

    async def _take(self, trace: Trace | None, pause_s: float, *, time_based: bool) -> float:
        """Takes up a measurement; returns how long to wait for the next one."""
        if trace and trace.delays_ms:
            self._measured(trace.delays_ms)
        if self._rate.decide(trace, time.monotonic(), time_based=time_based):
            await self._apply()
            log("page.paint-rate", reduced=self._rate.reduced, tick_us=self.tick_us)
            return PAUSE_MIN_S
        if self._rate.may_rise:
            return PAUSE_MIN_S
        return min(pause_s * 2, REDUCED_PAUSE_MAX_S if self._rate.reduced else PAUSE_MAX_S)

    def _is_due(self, chromium: Chromium, loaded: Callable[[], str | None], page: str | None) -> bool:
        """Whether a measurement is due before its time."""
        return loaded() != page or (self._rate.reduced and not chromium.time_based)

    async def _pause(self, pause_s: float, over: Callable[[], bool]) -> None:
        """Waits so long, or until `over`, which is looked at twice a second."""
        until_s = time.monotonic() + pause_s
        while (left_s := until_s - time.monotonic()) > 0:
            await asyncio.sleep(min(left_s, PAUSE_MIN_S))
            if over():
                return

    def _measured(self, delays_ms: list[float]) -> None:
        before_ms = median(self.delays_ms or [0.0])
        if abs(median(delays_ms) - before_ms) > WORTH_LOGGING_MS:
            log("page.paint-delay", before_ms=before_ms, now_ms=median(delays_ms))
        self.delays_ms = delays_ms
        self._changed()
