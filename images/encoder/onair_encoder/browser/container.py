"""Process 1 of the container `browser`: X server, sound server and Chromium, and a socket to steer them."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import tempfile
from collections.abc import Callable
from typing import Any

from onair_encoder.browser.cdp import CdpClosed, CdpError
from onair_encoder.browser.chromium import Chromium, PageError
from onair_encoder.logs import log
from onair_encoder.paths import BROWSER_SOCKET, DISPLAY, PULSE_SOCKET, SINK, X_SOCKET, max_size
from onair_encoder.process.supervise import Child, reap_orphans, terminated, wait_for_path

HEALTH_INTERVAL_S = 1.0
RETRY_MIN_S, RETRY_MAX_S = 0.5, 5.0


def x_server() -> Child:
    width, height = max_size()
    command = ["Xvfb", DISPLAY, "-screen", "0", f"{width}x{height}x24"]
    options = ["-nolisten", "tcp", "-ac", "-nocursor", "+extension", "MIT-SHM"]

    async def clean() -> None:
        for leftover in (str(X_SOCKET), "/tmp/.X0-lock"):  # noqa: S108
            with contextlib.suppress(FileNotFoundError):
                os.unlink(leftover)  # noqa: PTH108

    # The rows of a large screen are far apart: with large pages it costs a quarter less to go over them
    large_pages = {"GLIBC_TUNABLES": "glibc.malloc.hugetlb=1"}
    return Child("xvfb", [*command, *options], env=large_pages, before=clean, quiet=True)


def sound_server(again: Callable[[], None]) -> Child:
    runtime = tempfile.mkdtemp(prefix="pulse-")
    null_sink = f"module-null-sink sink_name={SINK} rate=48000 channels=2 norewinds=1"
    protocol = f"module-native-protocol-unix socket={PULSE_SOCKET} auth-anonymous=1"
    command = [
        *("pulseaudio", "-n", "--daemonize=no", "--exit-idle-time=-1", "--use-pid-file=no"),
        *("--disable-shm=no", "-L", protocol, "-L", null_sink),
    ]

    async def clean() -> None:
        with contextlib.suppress(FileNotFoundError):
            PULSE_SOCKET.unlink()

    return Child(
        "pulseaudio",
        command,
        env={"XDG_RUNTIME_DIR": runtime, "HOME": runtime},
        before=clean,
        quiet=True,
        again=again,
    )


class Browser:
    """Keeps Chromium running on the wanted page, through crashes of either."""

    def __init__(self) -> None:
        self.wanted: dict[str, Any] = {"url": "about:blank", "width": 1280, "height": 720}
        self.loaded: str | None = None
        self.error: str | None = None
        self._changed = asyncio.Event()
        self._listeners: set[asyncio.Event] = set()
        self._chromium: Chromium | None = None

    def want(self, request: dict[str, Any]) -> None:
        if request != self.wanted:
            if request["url"] != self.wanted["url"]:
                self._tell(None, None)
            self.wanted = request
            self._changed.set()

    def state(self) -> dict[str, Any]:
        return {"url": self.wanted["url"], "loaded": self.loaded == self.wanted["url"], "error": self.error}

    def _tell(self, loaded: str | None, error: str | None) -> None:
        if (loaded, error) != (self.loaded, self.error):
            self.loaded, self.error = loaded, error
            for listener in self._listeners:
                listener.set()

    def sound_is_back(self) -> None:
        """A page that was playing does not find a new sound server by itself."""
        if self._chromium:
            self._chromium.lost.set()

    async def run(self) -> None:
        while True:
            await wait_for_path(X_SOCKET)
            try:
                self._chromium = chromium = Chromium()
            except OSError as error:  # no room for its folder
                log("chromium.not-started", error=str(error))
                await asyncio.sleep(RETRY_MAX_S)
                continue
            try:
                await chromium.start()
                await self._show(chromium)
            except (CdpClosed, CdpError, OSError) as error:
                log("chromium.lost", error=str(error))
            finally:
                self._tell(None, "the browser is being restarted" if self.loaded else self.error)
                await chromium.stop()
            await asyncio.sleep(0.1)

    async def _show(self, chromium: Chromium) -> None:
        """Follows what is wanted until the browser is lost.

        Raises:
            CdpClosed: it is lost.
        """
        retry_s = RETRY_MIN_S
        while True:
            self._changed.clear()
            url: str = self.wanted["url"]
            await chromium.resize(self.wanted["width"], self.wanted["height"])
            if chromium.page != url:
                if chromium.left.is_set():
                    # The browser shows an error of its own
                    self._tell(None, "the page went away")
                    await chromium.darken()
                    chromium.left.clear()
                try:
                    if not await self._load(chromium, url):
                        retry_s = RETRY_MIN_S
                        continue
                except PageError as error:
                    log("page.failed", error=str(error))
                    self._tell(None, str(error))
                    await chromium.darken()
                    await _first_of(retry_s, self._changed, chromium.lost)
                    retry_s = RETRY_MIN_S if self._changed.is_set() else min(retry_s * 1.6, RETRY_MAX_S)
                    continue
                log("page.loaded")
                retry_s = RETRY_MIN_S
            self._tell(url, None)
            await self._rest(chromium)

    async def _load(self, chromium: Chromium, url: str) -> bool:
        """Whether the page was loaded; False when something else came to be wanted meanwhile.

        Raises:
            CdpClosed: the browser is lost.
            PageError: the page cannot be had.
        """
        loading = asyncio.create_task(chromium.navigate(url))
        try:
            while not loading.done():
                await _first_of(None, self._changed, chromium.lost, loading)
                if chromium.lost.is_set():
                    raise CdpClosed("while loading")
                if self._changed.is_set():
                    if self.wanted["url"] != url:
                        return False
                    self._changed.clear()
                    await chromium.resize(self.wanted["width"], self.wanted["height"])
            loading.result()
            return True
        finally:
            loading.cancel()
            await asyncio.gather(loading, return_exceptions=True)

    async def _rest(self, chromium: Chromium) -> None:
        """Returns when there is something to do.

        Raises:
            CdpClosed: the browser is lost.
        """
        while not self._changed.is_set() and not chromium.left.is_set():
            await _first_of(HEALTH_INTERVAL_S, self._changed, chromium.left, chromium.lost)
            if not await chromium.healthy():
                raise CdpClosed("the page does not answer")

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One client: JSON lines in say what is wanted, JSON lines out say what is."""
        listener = asyncio.Event()
        listener.set()
        self._listeners.add(listener)

        async def tell() -> None:
            while True:
                await listener.wait()
                listener.clear()
                writer.write(json.dumps(self.state()).encode() + b"\n")
                await writer.drain()

        telling = asyncio.create_task(tell())
        try:
            while line := await reader.readline():
                self.want(json.loads(line))
                listener.set()
        except (ConnectionError, ValueError):
            pass
        finally:
            self._listeners.discard(listener)
            telling.cancel()
            writer.close()


async def _first_of(timeout_s: float | None, *what: asyncio.Event | asyncio.Task[None]) -> None:
    """Returns when one of the events is set or tasks done, or the time is over."""
    waits = [w if isinstance(w, asyncio.Task) else asyncio.create_task(w.wait()) for w in what]
    try:
        await asyncio.wait(waits, timeout=timeout_s, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for given, wait in zip(what, waits, strict=True):
            if wait is not given:
                wait.cancel()


async def run() -> None:
    stop = terminated()
    BROWSER_SOCKET.unlink(missing_ok=True)
    browser = Browser()
    children = [x_server(), sound_server(again=browser.sound_is_back)]
    for child in children:
        child.start()
    server = await asyncio.start_unix_server(browser.serve, BROWSER_SOCKET)
    BROWSER_SOCKET.chmod(0o660)
    tasks = [asyncio.create_task(browser.run()), asyncio.create_task(reap_orphans())]
    await stop.wait()
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    server.close()
    for child in children:
        await child.stop()
