"""One Chromium process, and the page that it shows."""

from __future__ import annotations

import asyncio
import contextlib
import os
import tempfile
from collections.abc import Coroutine
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from onair_crds.runtime.stderr_log import log
from onair_encoder.browser import bounds, sandbox
from onair_encoder.browser.cdp import CdpClosed, CdpError, CdpPipe, CdpTimeout
from onair_encoder.browser.cdp_messages import Message
from onair_encoder.browser.chromium_command import launch
from onair_encoder.browser.first_paint import FirstPaint
from onair_encoder.browser.frame_trace import FrameTrace, Trace
from onair_encoder.browser.left_workers import LeftWorkers
from onair_encoder.browser.page_canvas import PageCanvas
from onair_encoder.browser.page_error import PageError, page_error_text

NAVIGATION_TIMEOUT_S = 30.0
HEALTH_TIMEOUT_S = 10.0
CHECK_RETRIES, CHECK_RETRY_S = 3, 0.2
DOCUMENT = """[performance.getEntriesByType('navigation')[0]?.responseStatus, location.host,
window[Symbol.for('onair.word')] || null, window[Symbol.for('onair.motion')] || null]"""
"""The present document's HTTP status, 0 where it has none, the host that it is from, its words of itself."""
NEXT_FRAME = "window[Symbol.for('onair.frame')]?.()"
FRAME = f"""document.hidden
|| (document.readyState !== 'complete' && !performance.getEntriesByType('paint').length)
|| {NEXT_FRAME}"""
"""A promise of the next frame. There may be none for long before a document's style sheets are loaded."""
PAGE_SCRIPTS = [Path(__file__).with_name(f"page_{name}.js").read_text() for name in ("word", "dialogs")]
"""They run before those of each document of the page's own process."""
LOADING, TIME_BASED = "onair:loading", "onair:time-based"


class Chromium:
    """A browser that paints one page at the top left of the screen.

    Its window opens with the size of the screen and takes that of the page. Chromium
    itself makes no window smaller than some 500 pixels: such a page's size is emulated.
    """

    def __init__(self) -> None:
        self.page: str | None = None
        """The url that is shown; None while there is none, or the page left for one that cannot be loaded."""
        self.script: str | None = None
        """What runs before the scripts of `page`."""
        self._wanted = "about:blank"
        self.process: asyncio.subprocess.Process | None = None
        self.lost = asyncio.Event()
        """The browser or its page has crashed."""
        self.navigated = asyncio.Event()
        """A document was loaded, at the page's own wish or at ours: `check` says whether it is one."""
        self.loading = False
        """The present document has said that it is not ready yet, as of the last `check`."""
        self.time_based = False
        """It has said that its motion goes by time, not by the number of its animation frames, likewise."""
        self._script_id: str | None = None
        self._cdp: CdpPipe | None = None
        self._session: str | None = None
        self._target: str | None = None
        self._document_status: int | None = None
        """Of the document that is being loaded."""
        self._document_url = ""
        """Of the present one: where redirects have led."""
        self._unreachable = False
        """The browser shows an error of its own."""
        self._first_paint = FirstPaint()
        self._reactions: set[asyncio.Task[None]] = set()
        self._frame_trace = FrameTrace(self._call)
        self._left_workers = LeftWorkers(self._call, self._page, lambda: (self._wanted, self._document_url))
        self._canvas = PageCanvas(self._page)
        self._profile = tempfile.TemporaryDirectory(prefix="chromium-", ignore_cleanup_errors=True)
        self._disk_looks = bounds.DiskLooks(Path(self._profile.name))

    async def start(self) -> None:
        """Starts the process and attaches to its page.

        Raises:
            CdpClosed: it ended at once.
            SandboxRefused: for want of its sandbox.
        """
        launched = await launch(self._profile.name)
        self.process = launched.process
        self._cdp = CdpPipe(launched.read_fd, launched.write_fd, self._event, self.lost.set)
        await self._cdp.open()
        try:
            await self._attach()
        except CdpClosed:
            await asyncio.to_thread(sandbox.require)
            raise
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
        for domain in ("Page", "Inspector"):
            await self._page(f"{domain}.enable")
        await self._call("Browser.setDownloadBehavior", {"behavior": "deny"})
        await self._page("Page.setLifecycleEventsEnabled", {"enabled": True})
        for script in PAGE_SCRIPTS:
            await self._page("Page.addScriptToEvaluateOnNewDocument", {"source": script})
        await self._call("Target.setDiscoverTargets", {"discover": True})

    async def resize(self, width: int, height: int) -> None:
        """Makes the page's canvas that size, at the top left of the screen; the page is not loaded again."""
        await self._canvas.resize(width, height)

    async def _call(self, method: str, params: Message | None = None, session: str | None = None) -> Message:
        if self._cdp is None:
            raise CdpClosed(method)
        return await self._cdp.call(method, params, session)

    async def _page(
        self, method: str, params: Message | None = None, timeout_s: float = HEALTH_TIMEOUT_S
    ) -> Message:
        if self._cdp is None or self._session is None:
            raise CdpClosed(method)
        return await self._cdp.call(method, params, self._session, timeout_s)

    def _event(self, method: str, params: Message, session: str | None) -> None:
        self._left_workers.event(method, params)
        self._first_paint.event(method, params)
        match method:
            case "Inspector.targetCrashed":
                self.lost.set()
            case "Target.detachedFromTarget" if params.get("sessionId") == self._session:
                self.lost.set()
            case "Page.javascriptDialogOpening":
                # Such as that of `beforeunload`: nobody sits in front of this screen, it would stay for ever.
                self._react(self._page("Page.handleJavaScriptDialog", {"accept": True}))
            case "Target.targetCreated" if target := params.get("targetInfo"):
                if target["type"] == "page" and target["targetId"] != self._target:
                    # A second window would cover the programme.
                    self._react(self._call("Target.closeTarget", {"targetId": target["targetId"]}))
            case "Page.frameNavigated" if frame := params.get("frame"):
                if "parentId" not in frame:
                    self._unreachable = bool(frame.get("unreachableUrl"))
                    self._document_url = str(frame.get("url", ""))
                    self.navigated.set()
                    loader = str(frame.get("loaderId", ""))
                    if self._first_paint.committed(loader):
                        self._react(self._note_first_frame(loader))
            case "Network.responseReceived":
                # A page's main frame has the id of its target.
                if params.get("type") == "Document" and params.get("frameId") == self._target:
                    self._document_status = int(params["response"]["status"])
            case _:
                self._frame_trace.event(method, params)

    def _react(self, reaction: Coroutine[Any, Any, object]) -> None:
        """Does what an event requires; a refusal is ignored."""

        async def run() -> None:
            with contextlib.suppress(CdpClosed, CdpError):
                await reaction

        task = asyncio.create_task(run())
        self._reactions.add(task)
        task.add_done_callback(self._reactions.discard)

    async def _note_first_frame(self, loader: str) -> None:
        expression = {"expression": NEXT_FRAME, "awaitPromise": True}
        await self._page("Runtime.evaluate", expression, NAVIGATION_TIMEOUT_S)
        self._first_paint.could_paint(loader)

    async def _inject(self, script: str | None) -> None:
        """Has a script run before those of every document that is loaded from now on; None: no script.

        What the script talks to is not for the page's own policy to refuse.
        """
        if script == self.script:
            return
        if self._script_id:
            await self._page("Page.removeScriptToEvaluateOnNewDocument", {"identifier": self._script_id})
            self._script_id = None
        await self._page("Page.setBypassCSP", {"enabled": script is not None})
        if script is not None:
            added = await self._page("Page.addScriptToEvaluateOnNewDocument", {"source": script})
            self._script_id = added["identifier"]
        self.script = script

    async def navigate(self, url: str, script: str | None = None) -> None:
        """Loads a page; returns when it has painted. Until it arrives the page before it stays.

        Args:
            script: runs before those of the page.

        Raises:
            PageError: it cannot be loaded; what is shown now is undefined, see `leave`.
            CdpClosed: the browser has ended.
        """
        self.page, self._document_status, self._wanted = None, None, url
        self._first_paint.begin()
        await self._inject(script)
        host = _host(url)
        # Only for the document: what a page loads later is none of our business, and may be large.
        await self._page("Network.enable")
        try:
            response = await self._page("Page.navigate", {"url": url}, NAVIGATION_TIMEOUT_S)
        except CdpTimeout as error:
            raise PageError(f"{host}: no response within {NAVIGATION_TIMEOUT_S:.0f} s") from error
        except CdpError as error:
            raise PageError("not an address that a browser can open") from error
        finally:
            self._react(self._page("Network.disable"))
        if self._document_status and self._document_status >= 400:
            raise PageError(_refusal(host, self._document_status))
        if text := response.get("errorText"):
            raise PageError(f"{host}: {page_error_text(text)}")
        loader = response.get("loaderId")
        if loader and not await self._first_paint.wait(loader, NAVIGATION_TIMEOUT_S, self.lost):
            raise PageError(f"{host}: the page has painted nothing within {NAVIGATION_TIMEOUT_S:.0f} s")
        await self._left_workers.end()
        await self.check()
        self.page = url

    async def check(self) -> None:
        """Whether the page responds and has frames, and its present document is no error.

        Raises:
            CdpClosed: it does not respond, or what paints its frames does not.
            PageError: it has navigated to an error; what is shown is undefined, see `leave`.
        """
        self.navigated.clear()
        if self.lost.is_set():
            raise CdpClosed("the page has crashed")
        response = await self._document()
        if self._unreachable:
            self.page = None
            raise PageError("the page became unavailable")
        status, host, word, motion = response["result"].get("value") or (0, "", None, None)
        self.loading, self.time_based = word == LOADING, motion == TIME_BASED
        if isinstance(status, int) and status >= 400:
            self.page = None
            raise PageError(_refusal(host, status))
        await self._frame()

    async def _frame(self) -> None:
        """Waits for a frame: the process that composes them may hang while the page itself responds.

        Raises:
            CdpClosed: there is none.
        """
        try:
            await self._page("Runtime.evaluate", {"expression": FRAME, "awaitPromise": True})
        except CdpTimeout as error:
            raise CdpClosed("the page has no frames") from error
        except CdpError:  # it navigates, and the next document is checked
            return

    async def _document(self) -> Message:
        """What `DOCUMENT` gives; at the moment of a navigation there is nothing that could be asked.

        Raises:
            CdpClosed: the page does not respond.
        """
        retries = 0
        while True:
            try:
                return await self._page("Runtime.evaluate", {"expression": DOCUMENT, "returnByValue": True})
            except CdpError as error:
                if retries == CHECK_RETRIES:
                    raise CdpClosed("the page does not respond") from error
            retries += 1
            await asyncio.sleep(CHECK_RETRY_S)

    async def trace_frames(self, length_s: float) -> Trace | None:
        """How long what the page paints takes to the screen; None if the browser is too busy to tell.

        Raises:
            CdpClosed: the browser has ended, or does not respond.
        """
        return await self._frame_trace.take(length_s)

    def kill(self) -> None:
        """Ends it, whatever it is doing: `lost` is set."""
        self.lost.set()
        if self.process and self.process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.process.pid, 9)

    def excess(self) -> str | None:
        """Why it has to be restarted, if it takes too much. Blocks for some milliseconds now and then."""
        return bounds.excess(Path(self._profile.name) if self._disk_looks.due() else None)

    async def leave(self) -> None:
        """Ends the page, and the browser's own page of an error."""
        self.page = None
        with contextlib.suppress(CdpError):
            await self._page("Page.stopLoading")
            await self._page("Page.navigate", {"url": "about:blank"})
            # Those of the page that is tried again may be what it is loaded by
            await self._left_workers.end()

    async def stop(self) -> None:
        for reaction in self._reactions:
            reaction.cancel()
        self._left_workers.close()
        if self._cdp:
            self._cdp.close()
        self.kill()
        if self.process:
            await self.process.wait()
        self._profile.cleanup()


def _host(url: str) -> str:
    """As errors name it; the scheme where there is none."""
    try:
        parts = urlsplit(url)
    except ValueError:  # whether it can be opened is for the browser to say
        return url.partition(":")[0]
    return parts.netloc.rpartition("@")[2] or parts.scheme


def _refusal(host: object, status: int) -> str:
    return f"{host} responds with HTTP {status}"
