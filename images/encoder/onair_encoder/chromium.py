"""One Chromium process: its command line, and the page that it is to show."""

from __future__ import annotations

import asyncio
import contextlib
import os
import tempfile
from typing import Any

from onair_encoder.cdp import CdpClosed, CdpError, CdpPipe
from onair_encoder.logs import log
from onair_encoder.places import DISPLAY, PULSE_SOCKET, SINK

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
    "--metrics-recording-only",
    "--password-store=basic",
    "--use-mock-keychain",
    "--disable-features=Translate,MediaRouter,OptimizationHints",
    "--window-position=0,0",
    "--remote-debugging-pipe",
]

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
    """A browser that paints one page at the top left of the screen."""

    def __init__(self, width: int, height: int) -> None:
        self._width, self._height = width, height
        self._cdp: CdpPipe | None = None
        self._session: str | None = None
        self._document_status: int | None = None
        self._frame: str | None = None
        self._profile = tempfile.TemporaryDirectory(prefix="chromium-", ignore_cleanup_errors=True)
        self.process: asyncio.subprocess.Process | None = None
        self.crashed = asyncio.Event()

    async def start(self) -> None:
        """Starts the process and attaches to its page.

        Raises:
            CdpClosed: it ended at once.
        """
        to_browser, ours_out = os.pipe()
        ours_in, from_browser = os.pipe()
        command = [
            PROGRAM,
            *FLAGS,
            f"--window-size={self._width},{self._height}",
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
        os.close(to_browser)
        os.close(from_browser)
        self._cdp = CdpPipe(ours_in, ours_out, self._event)
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
        attached = await self._call("Target.attachToTarget", {"targetId": pages[0], "flatten": True})
        self._session = attached["sessionId"]
        await self._page("Page.enable")
        await self._page("Network.enable")
        await self._page("Inspector.enable")
        await self.resize(self._width, self._height)

    async def resize(self, width: int, height: int) -> None:
        """Makes the page's canvas that size, at the top left of the screen."""
        self._width, self._height = width, height
        await self._page(
            "Emulation.setDeviceMetricsOverride",
            {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False},
        )

    async def _call(self, method: str, params: dict[str, Any] | None = None) -> dict[str, Any]:
        if self._cdp is None:
            raise CdpClosed(method)
        return await self._cdp.call(method, params)

    async def _page(self, method: str, params: dict[str, Any] | None = None) -> dict[str, Any]:
        if self._cdp is None or self._session is None:
            raise CdpClosed(method)
        return await self._cdp.call(method, params, self._session)

    def _event(self, method: str, params: dict[str, Any], session: str | None) -> None:
        if method in ("Inspector.targetCrashed", "Target.targetCrashed", "Target.detachedFromTarget"):
            self.crashed.set()
        elif (
            method == "Network.responseReceived"
            and params.get("type") == "Document"
            and params.get("frameId") == self._frame
        ):
            self._document_status = int(params["response"]["status"])

    async def navigate(self, url: str) -> None:
        """Loads a page; returns when it has been received and begins to paint.

        Raises:
            PageError: it cannot be had.
            CdpClosed: the browser has gone.
        """
        tree = await self._page("Page.getFrameTree")
        self._frame = tree["frameTree"]["frame"]["id"]
        self._document_status = None
        try:
            answer = await self._page("Page.navigate", {"url": url})
        except CdpError as error:
            raise PageError(str(error)) from error
        host = url.partition("://")[2].partition("/")[0].rpartition("@")[2]
        if text := answer.get("errorText"):
            raise PageError(f"{host}: {in_words(text)}")
        for _ in range(40):
            if self._document_status:
                break
            await asyncio.sleep(0.025)
        if self._document_status and self._document_status >= 400:
            raise PageError(f"{host} answers HTTP {self._document_status}")

    async def healthy(self) -> bool:
        """Whether the page still answers."""
        if self.crashed.is_set():
            return False
        try:
            await self._page("Runtime.evaluate", {"expression": "1"})
        except (CdpClosed, CdpError):
            return False
        return True

    async def stop(self) -> None:
        if self._cdp:
            self._cdp.close()
        if self.process and self.process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.process.pid, 9)
            await self.process.wait()
        self._profile.cleanup()
