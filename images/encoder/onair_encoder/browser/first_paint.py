"""When a document has painted for the first time: until then a browser's window is white."""

from __future__ import annotations

import asyncio
import time

from onair_encoder.browser.cdp_messages import Message
from onair_encoder.process.wait import first_of

BLANK_TIMEOUT_S = 2.0
"""A page that could paint for so long, and has not, may have nothing to paint, or only frames that do."""


class FirstPaint:
    """Follows the documents of a page from a navigation to its first paint, by what is passed to it.

    A page may lead to another by itself, or load itself again and again.
    """

    def __init__(self) -> None:
        self._news = asyncio.Event()
        self._follows = False
        self.begin()

    def begin(self) -> None:
        """Forgets what was before, as another page is about to be loaded."""
        self._follows = True
        self._document: str | None = None
        """The loader of the present one."""
        self._committed: set[str] = set()
        self._painted = False
        self._blank_since_s: float | None = None
        """Since when the present one could paint; None while it cannot, for want of its style sheets."""
        self._blank_s = 0.0
        """For how long earlier ones could."""

    def committed(self, loader: str) -> bool:
        """Takes another document for the page's; whether it is waited for."""
        if self._follows:
            self._committed.add(loader)
            if loader != self._document:
                self._replace(loader)
        return self._follows

    def _replace(self, loader: str) -> None:
        if self._blank_since_s is not None:
            self._blank_s += time.monotonic() - self._blank_since_s
        self._document, self._painted, self._blank_since_s = loader, False, None
        self._news.set()

    def event(self, method: str, params: Message) -> None:
        """Takes the browser's events."""
        if method != "Page.lifecycleEvent" or not self._follows or params.get("loaderId") != self._document:
            return
        match params.get("name"):
            case "firstPaint":
                self._painted = True
                self._news.set()
            case "load":
                self.could_paint(str(self._document))

    def could_paint(self, loader: str) -> None:
        """A document has loaded, or has had an animation frame: it has none before its style sheets."""
        if self._follows and loader == self._document and self._blank_since_s is None:
            self._blank_since_s = time.monotonic()
            self._news.set()

    async def wait(self, loader: str, timeout_s: float, lost: asyncio.Event) -> bool:
        """Waits for the first paint; where documents could paint, for `BLANK_TIMEOUT_S` in all.

        Args:
            loader: of the document that the navigation loads.
            timeout_s: for documents that cannot paint: a late style sheet keeps them from it.
            lost: ends the wait.

        Returns:
            False if the page could not paint in time; True also where the browser is lost.
        """
        if loader not in self._committed and loader != self._document:
            self._replace(loader)
        until_s = time.monotonic() + timeout_s
        try:
            while not (self._painted or lost.is_set()):
                due_s = until_s
                if self._blank_since_s is not None:
                    due_s = self._blank_since_s + BLANK_TIMEOUT_S - self._blank_s
                left_s = due_s - time.monotonic()
                if left_s <= 0:
                    return self._blank_since_s is not None
                self._news.clear()
                await first_of(left_s, self._news, lost)
            return True
        finally:
            self._follows = False
