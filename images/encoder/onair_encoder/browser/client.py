"""The agent's side of the browser's socket: says which page is wanted, receives what is shown."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from onair_crds.contract.program import ProgramVideo
from onair_crds.runtime.stderr_log import log
from onair_encoder.encode.codec_options import exact_framerate
from onair_encoder.encode.paint import Paints, reduced_tick_us, tick_us
from onair_encoder.paths import BROWSER_SOCKET

RETRY_S = 0.1
USUAL_TICK_US = tick_us(Fraction(30))
"""Until a page is wanted."""


class BrowserClient:
    def __init__(self, changed: Callable[[], None]) -> None:
        self.loaded = False
        self.error: str | None = None
        self.paints = Paints(USUAL_TICK_US)
        self.loading = False
        """The page has painted, and said that it is not ready yet."""
        self.confined = False
        """It may run on fewer CPUs than its container, as its page burns all of them."""
        self._changed = changed
        self._reducible = True
        self._wanted: dict[str, object] | None = None
        self._writer: asyncio.StreamWriter | None = None

    def want(self, url: str, video: ProgramVideo, script: str | None = None) -> None:
        """Requests a page at the size and rate of a video; the same request again changes nothing.

        Args:
            script: runs before those of the page, once it is loaded.
        """
        wanted: dict[str, object] = {"url": url, "width": video.width, "height": video.height}
        framerate = exact_framerate(video.framerate)
        wanted |= {"tickUs": tick_us(framerate), "reducedTickUs": reduced_tick_us(framerate)}
        if script is not None:
            wanted["script"] = script
        before, self._wanted = self._wanted, wanted
        if wanted == before:
            return
        if before is None or before["tickUs"] != wanted["tickUs"]:
            self.paints = Paints(tick_us(framerate), self.paints.delays_ms)
        if before is None or _page_of(wanted) != _page_of(before):
            self.loaded = False
        self._send()

    def set_reducible(self, reducible: bool) -> None:
        """Allows fewer paints, or does not: captures that are out of step would miss some of them."""
        if reducible != self._reducible:
            self._reducible = reducible
            self._send()

    def _send(self) -> None:
        if self._writer and self._wanted:
            wanted = self._wanted if self._reducible else {**self._wanted, "reducedTickUs": None}
            self._writer.write(json.dumps(wanted).encode() + b"\n")

    async def run(self) -> None:
        """Keeps connected, whatever becomes of the browser's container."""
        while True:
            try:
                reader, self._writer = await asyncio.open_unix_connection(BROWSER_SOCKET)
                self._send()
                while line := await reader.readline():
                    self._received(json.loads(line))
            except (OSError, ValueError) as error:
                log("browser.unreachable", error=str(error))
            self._writer = None
            self.loading = self.confined = False
            if self.loaded:
                self.loaded, self.error = False, "the browser is being restarted"
                self._changed()
            await asyncio.sleep(RETRY_S)

    def _received(self, state: dict[str, Any]) -> None:
        self.confined = bool(state.get("confined"))
        if self._wanted is None or state["url"] != self._wanted["url"]:
            return
        if state["tickUs"] == self._wanted["tickUs"]:
            self.paints = Paints(state["paintTickUs"] or self.paints.tick_us, tuple(state["paintDelaysMs"]))
        error = state["error"]
        before = (self.loaded, self.error, self.loading)
        self.loading = bool(state.get("loading"))
        self.loaded, self.error = bool(state["loaded"]), str(error) if error else None
        if (self.loaded, self.error, self.loading) != before:
            self._changed()


def _page_of(wanted: dict[str, object]) -> tuple[object, ...]:
    """What is loaded or laid out again if it differs: another script waits for the next page."""
    return *(wanted[name] for name in ("url", "width", "height")), "script" in wanted
