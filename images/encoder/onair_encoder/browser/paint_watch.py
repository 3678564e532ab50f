"""Measures how long what a page paints takes to the screen, and has it paint as often as that asks for."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from statistics import median
from typing import Any

from onair_crds.runtime.stderr_log import log
from onair_encoder.browser.cdp import CdpClosed, CdpTimeout
from onair_encoder.browser.chromium import Chromium
from onair_encoder.browser.paint_rate import PaintRate
from onair_encoder.browser.window import set_refresh

LOOK_MIN_S, LOOK_MAX_S, SPARING_LOOK_MAX_S = 0.5, 10.0, 2.5
"""Between measurements of a page's paints: soon after it was loaded, then rarely; more often where each frame
has but one."""
WORTH_LOGGING_MS = 8.0
"""Half a frame of Chromium's."""


class PaintWatch:
    """
    Args:
        changed: called when there is another measurement, or rate.
    """

    def __init__(self, changed: Callable[[], None]) -> None:
        self.delays_ms: list[float] = []
        """Of some frames; empty while unknown."""
        self._rate = PaintRate()
        self._changed = changed
        self._applying = asyncio.Lock()

    @property
    def tick_us(self) -> int | None:
        """From one paint to the next; None while that is left to the screen."""
        return self._rate.tick_us

    async def want(self, request: dict[str, Any]) -> None:
        """Takes the rates of a programme from the agent's request, and gives the screen the one in force."""
        self._rate.want(request.get("tickUs"), request.get("sparingTickUs"))
        await self._apply()

    async def _apply(self) -> None:
        async with self._applying:
            if tick_us := self._rate.tick_us:
                await asyncio.to_thread(set_refresh, tick_us)

    async def follow(self, chromium: Chromium, loaded: Callable[[], str | None]) -> None:
        """Measures a browser's page again and again: Chromium may fall a frame behind at any time, for long.

        Args:
            loaded: the page that is shown; None while there is none.
        """
        self._rate.begin()
        measured, pause_s = None, LOOK_MIN_S
        while True:
            await self._pause(chromium, pause_s)
            page = loaded()
            if page != measured:
                measured, pause_s = page, LOOK_MIN_S
                self._rate.begin()
                await self._apply()
            if page is None:
                continue
            delays_ms: list[float] | None
            try:
                delays_ms = await chromium.paint_delays_ms()
            except CdpTimeout:  # it may be busy, and is judged by `check`
                delays_ms = None
            except CdpClosed:
                return
            if loaded() != measured:
                continue
            if delays_ms:
                self._measured(delays_ms)
            if self._rate.look(delays_ms, time.monotonic(), time_based=chromium.time_based):
                await self._apply()
                log("page.paint-rate", sparing=self._rate.sparing, tick_us=self._rate.tick_us)
                pause_s = LOOK_MIN_S
                self._changed()
            elif self._rate.in_doubt:
                pause_s = LOOK_MIN_S
            else:
                pause_s = min(pause_s * 2, SPARING_LOOK_MAX_S if self._rate.sparing else LOOK_MAX_S)

    async def _pause(self, chromium: Chromium, pause_s: float) -> None:
        """Waits for the next look, which is at once where the page may not be painted sparingly any more."""
        until_s = time.monotonic() + pause_s
        while (left_s := until_s - time.monotonic()) > 0:
            await asyncio.sleep(min(left_s, LOOK_MIN_S))
            if self._rate.sparing and not chromium.time_based:
                return

    def _measured(self, delays_ms: list[float]) -> None:
        before_ms = median(self.delays_ms or [0.0])
        if abs(median(delays_ms) - before_ms) > WORTH_LOGGING_MS:
            log("page.paint-delay", before_ms=before_ms, now_ms=median(delays_ms))
        self.delays_ms = delays_ms
        self._changed()
