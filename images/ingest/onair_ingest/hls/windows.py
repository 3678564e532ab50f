"""All streams that are played by HLS: each is cut once for all of its players, and only while it has some."""

from __future__ import annotations

import asyncio

import structlog

from onair_ingest.hls.memory import Memory
from onair_ingest.hls.window import StateOf, Window
from onair_ingest.readers.readers import NoStream, Readers, Undecodable

log = structlog.get_logger()


class TooManyWindows(Exception):
    """So many streams are played already."""


class Windows:
    """The windows of all streams that are played."""

    def __init__(self, readers: Readers, state_of: StateOf, most: int, most_bytes: int) -> None:
        """
        Args:
            most: streams that are played at once.
            most_bytes: of the segments of all of them.
        """
        self._readers, self._state_of, self._most = readers, state_of, most
        self._memory = Memory(most_bytes)
        self._windows: dict[str, tuple[Window, asyncio.Task[None]]] = {}

    @property
    def count(self) -> int:
        return len(self._windows)

    def get(self, stream: str) -> Window | None:
        """The window of a stream that is played."""
        known = self._windows.get(stream)
        return known[0] if known else None

    def play(self, stream: str) -> Window:
        """The window of a stream, begun where nobody plays it.

        Raises:
            NoStream: it is not published here.
            Undecodable: it is, and nothing of it is played.
            TooManyWindows
        """
        if reason := self._readers.undecodable(stream):
            raise Undecodable(reason)
        if known := self.get(stream):
            return known
        if self._state_of(stream) is None:
            raise NoStream(stream)
        if self.count >= self._most:
            raise TooManyWindows
        window = Window(stream, self._readers, self._state_of, self._memory)
        task = asyncio.create_task(window.run(), name=f"hls of {stream}")
        self._windows[stream] = window, task
        task.add_done_callback(lambda done: self._forget(stream, done))
        return window

    def _forget(self, stream: str, task: asyncio.Task[None]) -> None:
        del self._windows[stream]
        if not task.cancelled() and (error := task.exception()):
            log.error("hls.broken", stream=stream, error=type(error).__name__)

    async def close(self) -> None:
        tasks = [task for _, task in self._windows.values()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
