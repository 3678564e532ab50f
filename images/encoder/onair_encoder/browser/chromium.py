"""One Chromium process: its command line, and the page that it is to show."""

from __future__ import annotations

import asyncio
import contextlib
import os
import tempfile
from collections.abc import Coroutine
from typing import Any
from urllib.parse import urlsplit

from onair_encoder.browser import window
from onair_encoder.browser.cdp import CdpClosed, CdpError, CdpPipe, CdpSilent
from onair_encoder.logs import log
from onair_encoder.paths import DISPLAY, PULSE_SOCKET, SINK, max_size

PROGRAM = "/usr/lib/chromium/chromium"
FLAGS = [
    "--kiosk",
    "--no-sandbox",
    "--no-first-run",
    "--no-default-browser-check",
    "--autoplay-policy=no-user-gesture-required",
    "--force-device-scale-factor=1",
    "--force-color-profile=srgb",
    "--hide-scrollbars",
    "--disable-background-networking",
    "--disable-background-timer-throttling",
    "--disable-backgrounding-occluded-windows",
    "--disable-renderer-backgrounding",
    "--disable-breakpad",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-extensions",
    "--disable-hang-monitor",
    "--disable-sync",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-quic",
    "--deny-permission-prompts",
    "--noerrdialogs",
    "--metrics-recording-only",
    "--password-store=basic",
    "--use-mock-keychain",
    "--disable-features=Translate,MediaRouter,OptimizationHints",
    "--window-position=0,0",
    "--remote-debugging-pipe",
]

FIT_S = 0.5
"""A page takes the size of its window within some 30 ms, or not at all."""
NAVIGATION_TIMEOUT_S = 30.0
HEALTH_TIMEOUT_S = 10.0
PAINT_TIMEOUT_S = 2.0
"""A page that has arrived and painted nothing for so long is taken as it is."""
DARK = "document.documentElement.style.background = '#000'"

_WORDS = {
    "ERR_NAME_NOT_RESOLVED": "name not found",
    "ERR_CONNECTION_REFUSED": "connection refused",
    "ERR_CONNECTION_TIMED_OUT": "no answer in time",
    "ERR_CONNECTION_RESET": "connection reset",
    "ERR_ADDRESS_UNREACHABLE": "address not reachable",
    "ERR_INTERNET_DISCONNECTED": "no network",
    "ERR_CERT_AUTHORITY_INVALID": "certificate of an unknown authority",
    "ERR_CERT_DATE_INVALID": "certificate has expired",
    "ERR_CERT_COMMON_NAME_INVALID": "certificate is for another name",
}


class PageError(Exception):
    """The page cannot be shown; the text says why, in words."""


def in_words(error_text: str) -> str:
    """Chromium's `net::ERR_…` as a producer would say it."""
    code = error_text.removeprefix("net::")
    return _WORDS.get(code, code.removeprefix("ERR_").replace("_", " ").lower())


class Chromium:
    """A browser that paints one page at the top left of the screen.

    Its window opens with the size of the screen and takes that of the page. Chromium
    itself makes no window smaller than some 500 pixels: such a page's size is emulated.
    """

    def __init__(self) -> None:
        self.page: str | None = None
        """The url that is shown; None while there is none, or the page left for one that cannot be had."""
        self.process: asyncio.subprocess.Process | None = None
        self.lost = asyncio.Event()
        """The browser or its page has crashed."""
        self.left = asyncio.Event()
        """The page went by itself to one that cannot be had."""
        self._size: tuple[int, int] | None = None
        self._emulates = False
        self._cdp: CdpPipe | None = None
        self._session: str | None = None
        self._target: str | None = None
        self._document_status: int | None = None
        self._painted = asyncio.Condition()
        self._painted_loaders: set[str] = set()
        self._errands: set[asyncio.Task[None]] = set()
        self._profile = tempfile.TemporaryDirectory(prefix="chromium-", ignore_cleanup_errors=True)

    async def start(self) -> None:
        """Starts the process and attaches to its page.

        Raises:
            CdpClosed: it ended at once.
        """
        to_browser, ours_out = os.pipe()
        ours_in, from_browser = os.pipe()
        width, height = max_size()
        command = [
            PROGRAM,
            *FLAGS,
            f"--window-size={width},{height}",
            f"--user-data-dir={self._profile.name}",
            "about:blank",
        ]
        runtime = self._profile.name
        env = {
            **os.environ,
            "DISPLAY": DISPLAY,
            "PULSE_SERVER": f"unix:{PULSE_SOCKET}",
            "PULSE_SINK": SINK,
            "HOME": runtime,
            "XDG_RUNTIME_DIR": runtime,
        }

        try:
            self.process = await asyncio.create_subprocess_exec(
                "/bin/bash",
                "-c",
                f'exec "$@" 3<&{to_browser} 4>&{from_browser}',
                "chromium",
                *command,
                env=env,
                pass_fds=(to_browser, from_browser),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.DEVNULL,
                stderr=asyncio.subprocess.DEVNULL,
                start_new_session=True,
            )
        except OSError:
            os.close(ours_in)
            os.close(ours_out)
            raise
        finally:
            os.close(to_browser)
            os.close(from_browser)
        self._cdp = CdpPipe(ours_in, ours_out, self._event, self.lost.set)
        await self._cdp.open()
        await self._attach()
        log("chromium.started", pid=self.process.pid)

    async def _attach(self) -> None:
        for _ in range(200):
            targets = (await self._call("Target.getTargets"))["targetInfos"]
            pages = [t["targetId"] for t in targets if t["type"] == "page"]
            if pages:
                break
            await asyncio.sleep(0.025)
        else:
            raise CdpClosed("no page")
        self._target = pages[0]
        attached = await self._call("Target.attachToTarget", {"targetId": self._target, "flatten": True})
        self._session = attached["sessionId"]
        for domain in ("Page", "Network", "Inspector"):
            await self._page(f"{domain}.enable")
        await self._page("Page.setLifecycleEventsEnabled", {"enabled": True})
        await self._page("Runtime.evaluate", {"expression": DARK})
        await self._call("Target.setDiscoverTargets", {"discover": True})

    async def resize(self, width: int, height: int) -> None:
        """Makes the page's canvas that size, at the top left of the screen; the page is not loaded again."""
        before = self._size
        if before == (width, height):
            return
        if before and self._emulates:
            await asyncio.to_thread(window.resize, max(before[0], width), max(before[1], height))
        await asyncio.to_thread(window.resize, width, height)
        await self._emulate(None if await self._fits(width, height) else (width, height))
        self._size = (width, height)

    async def _fits(self, width: int, height: int) -> bool:
        """Whether the page takes the size of the window, without any emulation."""
        if self._emulates:
            await self._emulate(None)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(FIT_S):
                while True:
                    layout = (await self._page("Page.getLayoutMetrics"))["cssLayoutViewport"]
                    if (layout["clientWidth"], layout["clientHeight"]) == (width, height):
                        return True
                    await asyncio.sleep(FIT_S / 50)
        return False

    async def _emulate(self, size: tuple[int, int] | None) -> None:
        """Shows the page in a size that is not its window's. That costs a renderer time with each picture."""
        if size:
            log("page.emulated", width=size[0], height=size[1])
            metrics = {"width": size[0], "height": size[1], "deviceScaleFactor": 1, "mobile": False}
            await self._page("Emulation.setDeviceMetricsOverride", metrics)
        elif self._emulates:
            await self._page("Emulation.clearDeviceMetricsOverride")
        self._emulates = size is not None

    async def _call(self, method: str, params: dict[str, Any] | None = None) -> dict[str, Any]:
        if self._cdp is None:
            raise CdpClosed(method)
        return await self._cdp.call(method, params)

    async def _page(
        self, method: str, params: dict[str, Any] | None = None, timeout_s: float = HEALTH_TIMEOUT_S
    ) -> dict[str, Any]:
        if self._cdp is None or self._session is None:
            raise CdpClosed(method)
        return await self._cdp.call(method, params, self._session, timeout_s)

    def _event(self, method: str, params: dict[str, Any], session: str | None) -> None:
        match method:
            case "Inspector.targetCrashed" | "Target.detachedFromTarget":
                self.lost.set()
            case "Page.javascriptDialogOpening":
                # Nobody sits in front of this screen: a dialog would stop the page for good.
                self._run_errand(self._page("Page.handleJavaScriptDialog", {"accept": True}))
            case "Target.targetCreated":
                target = params["targetInfo"]
                if target["type"] == "page" and target["targetId"] != self._target:
                    # A second window would lie on top of the programme.
                    self._run_errand(self._call("Target.closeTarget", {"targetId": target["targetId"]}))
            case "Page.frameNavigated":
                frame = params["frame"]
                if "parentId" not in frame and frame.get("unreachableUrl") and self.page:
                    self.page = None
                    self.left.set()
            case "Page.lifecycleEvent" if params.get("name") == "firstPaint":
                self._painted_loaders.add(params["loaderId"])
                self._run_errand(self._tell_painted())
            case "Network.responseReceived":
                # A page's main frame has the id of its target.
                if params.get("type") == "Document" and params.get("frameId") == self._target:
                    self._document_status = int(params["response"]["status"])
            case _:
                pass

    def _run_errand(self, errand: Coroutine[Any, Any, object]) -> None:
        """Does what an event asks for; a refusal is none of our concern."""

        async def run() -> None:
            with contextlib.suppress(CdpClosed, CdpError):
                await errand

        task = asyncio.create_task(run())
        self._errands.add(task)
        task.add_done_callback(self._errands.discard)

    async def _tell_painted(self) -> None:
        async with self._painted:
            self._painted.notify_all()

    async def navigate(self, url: str) -> None:
        """Loads a page; returns when it has painted. Until it arrives the page before it stays.

        Raises:
            PageError: it cannot be had; what is shown now is undefined, see `darken`.
            CdpClosed: the browser has gone.
        """
        self.page, self._document_status = None, None
        self._painted_loaders.clear()
        host = urlsplit(url).netloc.rpartition("@")[2]
        try:
            answer = await self._page("Page.navigate", {"url": url}, NAVIGATION_TIMEOUT_S)
        except CdpSilent as error:
            raise PageError(f"{host}: no answer within {NAVIGATION_TIMEOUT_S:.0f} s") from error
        except CdpError as error:
            raise PageError("not an address that a browser can open") from error
        if text := answer.get("errorText"):
            raise PageError(f"{host}: {in_words(text)}")
        if loader := answer.get("loaderId"):
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(PAINT_TIMEOUT_S), self._painted:
                    await self._painted.wait_for(lambda: loader in self._painted_loaders)
        if self._document_status and self._document_status >= 400:
            raise PageError(f"{host} answers HTTP {self._document_status}")
        self.left.clear()
        self.page = url

    async def darken(self) -> None:
        """Shows nothing but black, in place of the browser's own error page."""
        self.page = None
        with contextlib.suppress(CdpError):
            await self._page("Page.stopLoading")
            await self._page("Page.navigate", {"url": "about:blank"})
            await self._page("Runtime.evaluate", {"expression": DARK})

    async def healthy(self) -> bool:
        """Whether the page still answers."""
        if self.lost.is_set():
            return False
        try:
            await self._page("Runtime.evaluate", {"expression": "1"})
        except (CdpClosed, CdpError):
            return False
        return True

    async def stop(self) -> None:
        for errand in self._errands:
            errand.cancel()
        if self._cdp:
            self._cdp.close()
        if self.process and self.process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.process.pid, 9)
            await self.process.wait()
        self._profile.cleanup()
