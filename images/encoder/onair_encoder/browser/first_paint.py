"""When a document has painted for the first time: until then a browser's window is white."""

from __future__ import annotations

import asyncio
import math
import time

from onair_encoder.browser.cdp_messages import Message
from onair_encoder.process.wait import first_of

LOADED_TIMEOUT_S = 2.0
"""A document that has loaded, and has painted nothing for so long, may have nothing to paint."""


class FirstPaint:
    """Follows the documents of a page by the browser's events, which are to be passed to `event`."""

    def __init__(self) -> None:
        self.begin()
        self._news = asyncio.Event()

    def begin(self) -> None:
        """Forgets what was before, as another page is about to be loaded."""
        self._document: str | None = None
        """The loader of the present one, which may have led to another by itself."""
        self._painted: set[str] = set()
        self._loaded_s: dict[str, float] = {}

    def event(self, method: str, params: Message) -> None:
        match method, params:
            case "Page.frameNavigated", {"frame": {"loaderId": str(loader), **frame}} if (
                "parentId" not in frame
            ):
                self._document = loader
            case "Page.lifecycleEvent", {"name": "firstPaint", "loaderId": str(loader)}:
                self._painted.add(loader)
            case "Page.lifecycleEvent", {"name": "load", "loaderId": str(loader)}:
                self._loaded_s.setdefault(loader, time.monotonic())
            case _:
                return
        self._news.set()

    async def wait(self, loader: str, timeout_s: float, lost: asyncio.Event) -> bool:
        """Waits for the first paint; for a document that has loaded, at most for `LOADED_TIMEOUT_S`.

        Args:
            loader: of the document that is being loaded.
            timeout_s: for a document that is still loading: a late style sheet keeps it from painting.
            lost: ends the wait.

        Returns:
            whether there is anything to show; False if it neither painted nor loaded in time.
        """
        self._document = self._document or loader
        until_s = time.monotonic() + timeout_s
        while self._document not in self._painted and not lost.is_set():
            loaded_s = self._loaded_s.get(self._document, math.inf)
            left_s = min(until_s, loaded_s + LOADED_TIMEOUT_S) - time.monotonic()
            if left_s <= 0:
                return loaded_s < math.inf
            self._news.clear()
            await first_of(left_s, self._news, lost)
        return True
