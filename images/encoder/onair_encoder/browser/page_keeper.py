"""Keeps the wanted page on the screen, and reports to clients whether it is."""

from __future__ import annotations

import asyncio
import json
import time
from typing import Any

from onair_crds.runtime.stderr_log import log
from onair_encoder.browser.cdp import CdpClosed, CdpError
from onair_encoder.browser.chromium import Chromium
from onair_encoder.browser.cpu_watch import CpuWatch
from onair_encoder.browser.page_error import PageError
from onair_encoder.browser.paint_watch import PaintWatch
from onair_encoder.browser.sandbox import SandboxRefused
from onair_encoder.browser.x_screen import Screen
from onair_encoder.paths import X_SOCKET
from onair_encoder.process.wait import first_of, wait_for_path

HEALTH_INTERVAL_S = 1.0
GUARD_INTERVAL_S = 0.25
"""Between two looks at what the browser takes."""
LOADING_INTERVAL_S = 0.1
"""Between two looks at a page that is to say when it is ready."""
RETRY_MIN_S, RETRY_MAX_S = 0.5, 5.0
RESTART_MIN_S, RESTART_MAX_S = 0.1, 30.0
STOOD_S = 60.0
"""A browser that stood for so long is restarted at once."""
NO_PAGE = "about:blank"


class RestartPause:
    """How long to wait after a browser ended: twice as long each time, unless it ran for a while."""

    def __init__(self) -> None:
        self._next_s = RESTART_MIN_S

    def after(self, stood_s: float) -> float:
        """Returns how long to wait before the next browser is started.

        Args:
            stood_s: how long the browser that ended was there.
        """
        pause_s = RESTART_MIN_S if stood_s >= STOOD_S else self._next_s
        self._next_s = min(pause_s * 2, RESTART_MAX_S)
        return pause_s


class PageKeeper:
    """Keeps Chromium running and showing the wanted page, through crashes of either."""

    def __init__(self) -> None:
        self.wanted: dict[str, Any] = {"url": NO_PAGE, "width": 1280, "height": 720, "tickUs": None}
        self.loaded: str | None = None
        self.loading = False
        """The page has painted, and said that it is not ready yet."""
        self.error: str | None = None
        self.cpu = CpuWatch(self._session, self._notify)
        self._paints = PaintWatch(self._notify)
        self._changed = asyncio.Event()
        self._listeners: set[asyncio.Event] = set()
        self._chromium: Chromium | None = None
        self._screen = Screen()

    def want(self, request: dict[str, Any]) -> None:
        if request != self.wanted:
            if request["url"] != self.wanted["url"]:
                self._report(None, None)
                self.cpu.begin()
            self.wanted = request
            self._changed.set()

    def state(self) -> dict[str, Any]:
        return {
            "url": self.wanted["url"],
            "loaded": self.loaded == self.wanted["url"],
            "loading": self.loading,
            "error": self.error,
            "confined": self.cpu.confined,
            "paintDelaysMs": self._paints.delays_ms,
            "paintTickUs": self._paints.tick_us,
            "tickUs": self.wanted.get("tickUs"),
        }

    def _report(self, loaded: str | None, error: str | None, *, loading: bool = False) -> None:
        if (loaded, error, loading) != (self.loaded, self.error, self.loading):
            self.loaded, self.error, self.loading = loaded, error, loading
            self._notify()

    def _notify(self) -> None:
        for listener in self._listeners:
            listener.set()

    def _session(self) -> int | None:
        process = self._chromium.process if self._chromium else None
        return process.pid if process and process.returncode is None else None

    def sound_restarted(self) -> None:
        """Restarts Chromium: a page that was playing does not find a new sound server by itself."""
        if self._chromium:
            self._chromium.lost.set()

    async def run(self) -> None:
        pause = RestartPause()
        while True:
            await wait_for_path(X_SOCKET)
            began = time.monotonic()
            try:
                self._chromium = chromium = Chromium()
            except OSError as error:  # no space for its folder
                log("chromium.not-started", error=str(error))
                await asyncio.sleep(RETRY_MAX_S)
                continue
            measuring = self._paints.following(chromium, lambda: self.loaded)
            guarding = asyncio.create_task(_guard(chromium), name="bounds")
            try:
                # A browser's window is white until its page has painted
                await asyncio.to_thread(self._screen.blank)
                await chromium.start()
                await self._show(chromium)
            except (CdpClosed, CdpError, OSError, RuntimeError) as error:  # the last for want of a thread
                log("chromium.lost", error=str(error))
            except SandboxRefused as error:
                log("chromium.not-started", error=str(error))
                self._report(None, str(error))
            finally:
                measuring.cancel()
                await asyncio.gather(measuring, return_exceptions=True)
                excess = guarding.result() if guarding.done() else None
                guarding.cancel()
                restarting = "the browser is being restarted" if self.loaded else self.error
                self._report(None, excess or restarting)
                await chromium.stop()
                await self._show_screen()
            if await self._pause(pause.after(time.monotonic() - began)):
                pause = RestartPause()

    async def _show_screen(self) -> None:
        """Shows it, unless that cannot be done now: it is blank until the next page has painted then."""
        try:
            await asyncio.to_thread(self._screen.show)
        except RuntimeError as error:
            log("screen.not-shown", error=str(error))

    async def _pause(self, pause_s: float) -> bool:
        """Waits, at most until another page or size is wanted; whether one is."""
        self._changed.clear()
        await first_of(pause_s, self._changed)
        return self._changed.is_set()

    async def _show(self, chromium: Chromium) -> None:
        """Follows what is wanted until the browser is lost.

        Raises:
            CdpClosed: it is lost.
        """
        retry_s = RETRY_MIN_S
        while True:
            self._changed.clear()
            url: str = self.wanted["url"]
            await self._lay_out(chromium)
            try:
                script = self.wanted.get("script")
                # If only the script differs, it is for when the page is loaded next
                if chromium.page != url or (chromium.script is None) != (script is None):
                    if not await self._load(chromium, url, script):
                        retry_s = RETRY_MIN_S
                        continue
                    if url == NO_PAGE:
                        await asyncio.to_thread(self._screen.blank)
                    else:
                        await asyncio.to_thread(self._screen.show)
                        log("page.loaded")
                retry_s = RETRY_MIN_S
                await self._watch(chromium, url)
            except PageError as error:
                log("page.failed", error=str(error))
                self._report(None, str(error))
                await asyncio.to_thread(self._screen.blank)
                await chromium.leave()
                await first_of(retry_s, self._changed, chromium.lost)
                retry_s = RETRY_MIN_S if self._changed.is_set() else min(retry_s * 1.6, RETRY_MAX_S)

    async def _lay_out(self, chromium: Chromium) -> None:
        """Gives the screen its rate and the page its size.

        Raises:
            CdpClosed: the browser is lost.
        """
        await self._paints.want(self.wanted)
        await chromium.resize(self.wanted["width"], self.wanted["height"])

    async def _load(self, chromium: Chromium, url: str, script: str | None) -> bool:
        """Whether the page was loaded; False when another was wanted meanwhile.

        Raises:
            CdpClosed: the browser is lost.
            PageError: the page cannot be loaded.
        """
        log("page.loading")
        loading = asyncio.create_task(chromium.navigate(url, script))
        try:
            while not loading.done():
                await first_of(None, self._changed, chromium.lost, loading)
                if chromium.lost.is_set():
                    raise CdpClosed("while loading")
                if self._changed.is_set():
                    if self.wanted["url"] != url:
                        return False
                    self._changed.clear()
                    await self._lay_out(chromium)
            loading.result()
            return True
        finally:
            loading.cancel()
            await asyncio.gather(loading, return_exceptions=True)

    async def _watch(self, chromium: Chromium, url: str) -> None:
        """Reports the page, once it is ready by its own word; returns when another page or size is wanted.

        Raises:
            CdpClosed: the browser is lost.
            PageError: the page has navigated to an error.
        """
        while not self._changed.is_set():
            loading = chromium.loading
            self._report(None if loading else url, None, loading=loading)
            interval_s = LOADING_INTERVAL_S if loading else HEALTH_INTERVAL_S
            await first_of(interval_s, self._changed, chromium.navigated, chromium.lost)
            await chromium.check()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One client: JSON lines in with what is wanted, JSON lines out with what is shown."""
        listener = asyncio.Event()
        listener.set()
        self._listeners.add(listener)

        async def report() -> None:
            while True:
                await listener.wait()
                listener.clear()
                writer.write(json.dumps(self.state()).encode() + b"\n")
                await writer.drain()

        reporting = asyncio.create_task(report())
        try:
            while line := await reader.readline():
                self.want(json.loads(line))
                listener.set()
        except (ConnectionError, ValueError):
            pass
        finally:
            self._listeners.discard(listener)
            reporting.cancel()
            writer.close()


async def _guard(chromium: Chromium) -> str:
    """Ends a browser that takes too much, also while its page keeps it from answering; why it did."""
    while not (reason := await _excess(chromium)):  # noqa: ASYNC110 - the kernel reports no excess
        await asyncio.sleep(GUARD_INTERVAL_S)
    chromium.kill()
    return reason


async def _excess(chromium: Chromium) -> str | None:
    try:
        return await asyncio.to_thread(chromium.excess)
    except (OSError, RuntimeError) as error:  # no thread can be started, as where the page has taken all
        return f"the resources that the page uses cannot be measured: {error}"
