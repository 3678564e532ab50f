"""What a page says of its own readiness: that it is loading, before it paints, and that it is ready."""

from __future__ import annotations

import asyncio
from pathlib import Path

BINDING = "onairReport"
LOADING, READY = "onair:loading", "onair:ready"
SCRIPT = Path(__file__).with_name("page_word.js").read_text()


class PageWord:
    """The word of the present document. One that says nothing is ready once it has painted."""

    def __init__(self) -> None:
        self.spoken = asyncio.Event()
        """It has said something new."""
        self.loading = False
        """It has said that it is loading, and not that it is ready."""

    def hears(self, payload: str) -> None:
        loading = {LOADING: True, READY: False}.get(payload)
        if loading is not None and loading != self.loading:
            self.loading = loading
            self.spoken.set()

    def forget(self) -> None:
        """Another document takes the place."""
        self.loading = False
