"""The WebSocket by which a page is sent the scene, and reports what became of it."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from urllib.parse import urlsplit

from aiohttp import WSMsgType, web
from pydantic import ValidationError

from onair_crds.contract.pod import COMPOSITOR_URL, SCENE_PATH
from onair_crds.contract.scene import (
    PAGE_MESSAGE,
    LayersChange,
    PageFailed,
    PageFailure,
    PageLevels,
    PageReady,
    SceneState,
)
from onair_crds.runtime.stderr_log import log

HEARTBEAT_S = 5.0
MAX_WAITING = 256
"""Changes that a page may be behind; beyond that it is sent the state."""
MAX_MESSAGE = 4 * 2**20
FAILURES_INTERVAL_S = 1.0
WRONG_LOGGED = 3
"""Messages of one page that are none, each of which is worth a line."""


def origin_of(url: str) -> str | None:
    """The origin of a page's address, as browsers write it; None if it has none."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:  # no address: the browser says so
        return None
    if parts.scheme not in ("http", "https") or not parts.hostname:
        return None
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    default = {"http": 80, "https": 443}[parts.scheme]
    return f"{parts.scheme}://{host}" + (f":{port}" if port not in (None, default) else "")


OURS = origin_of(COMPOSITOR_URL)


class PageSockets:
    """All pages that are connected: usually one, for a moment two."""

    def __init__(self, state: Callable[[], SceneState], changed: Callable[[], None]) -> None:
        """
        Args:
            state: what a page is sent first.
            changed: called when a page has said something that a status reports.
        """
        self.failures: list[PageFailure] = []
        self.page_origin: str | None = None
        """Of a page of the caller's own that may connect next to ours."""
        self._state = state
        self._changed = changed
        self._pages: list[_Page] = []
        self._said: list[PageFailure] = []
        self._pause: asyncio.TimerHandle | None = None

    @property
    def ready(self) -> bool:
        """A page that is connected has said that its first layout is up."""
        return any(page.ready for page in self._pages)

    @property
    def levels(self) -> dict[str, float]:
        """How loud layers are, dBFS, by id; as the newest page says."""
        return self._pages[-1].levels if self._pages else {}

    def add_to(self, app: web.Application) -> None:
        app.router.add_get(SCENE_PATH, self._serve)
        app.on_shutdown.append(self._close)

    def send(self, message: SceneState | LayersChange) -> None:
        text = message.wire()
        for page in self._pages:
            page.send(text)

    async def _close(self, _: web.Application) -> None:
        if self._pause:
            self._pause.cancel()
        for page in list(self._pages):
            await page.socket.close(code=1012)

    async def _serve(self, request: web.Request) -> web.StreamResponse:
        # What else is on the page, such as a frame of a layer's, learns nothing of the scene.
        origin = request.headers.get("Origin")
        if origin is None or origin not in (OURS, self.page_origin):
            raise web.HTTPForbidden(text="scenes are not sent to this page")
        socket = web.WebSocketResponse(heartbeat=HEARTBEAT_S, compress=False, max_msg_size=MAX_MESSAGE)
        await socket.prepare(request)
        page = _Page(socket, lambda: self._state().wire())
        self._pages.append(page)
        log("scene.page-connected", pages=len(self._pages))
        writing = asyncio.create_task(page.write())
        try:
            async for message in socket:
                if message.type is WSMsgType.TEXT:
                    self._take(page, message.data)
        finally:
            writing.cancel()
            self._pages.remove(page)
            await asyncio.gather(writing, return_exceptions=True)
            log("scene.page-left", pages=len(self._pages))
            if page.ready:
                self._changed()
        return socket

    def _take(self, page: _Page, text: str) -> None:
        try:
            message = PAGE_MESSAGE.validate_json(text)
        except ValidationError as error:
            page.wrong += 1
            if page.wrong <= WRONG_LOGGED:
                log("scene.page-message-wrong", errors=error.error_count())
            return
        match message:
            case PageReady():
                if not page.told_failures:
                    self._failed(page, [])
                if not page.ready:
                    page.ready = True
                    log("scene.page-ready")
                    self._changed()
            case PageFailed(layers=layers):
                self._failed(page, layers)
            case PageLevels(layers=levels):
                page.levels = levels

    def _failed(self, page: _Page, failures: list[PageFailure]) -> None:
        page.told_failures = True
        if page is self._pages[-1]:
            self._said = failures
            if self._pause is None:
                self._tell_failures()

    def _tell_failures(self) -> None:
        """Tells what the page has said last, at most once a second: each change is written into a status."""
        self._pause = None
        if self._said != self.failures:
            self.failures = self._said
            log("scene.layers-failed", layers=len(self.failures))
            self._changed()
            self._pause = asyncio.get_running_loop().call_later(FAILURES_INTERVAL_S, self._tell_failures)


class _Page:
    """One connection. What it has not taken waits, up to a bound."""

    def __init__(self, socket: web.WebSocketResponse, state: Callable[[], str]) -> None:
        self.socket = socket
        self.ready = False
        self.told_failures = False
        self.levels: dict[str, float] = {}
        self.wrong = 0
        self._state = state
        self._waiting: deque[str] = deque()
        self._behind = True
        """It is to be sent the state, in place of all that waits."""
        self._news = asyncio.Event()
        self._news.set()

    def send(self, text: str) -> None:
        if self._behind:
            return  # what it will be sent has this already
        self._waiting.append(text)
        if len(self._waiting) > MAX_WAITING:
            self._behind = True
            self._waiting.clear()
        self._news.set()

    async def write(self) -> None:
        try:
            while True:
                await self._news.wait()
                self._news.clear()
                if self._behind:
                    self._behind = False
                    await self.socket.send_str(self._state())
                while self._waiting:
                    await self.socket.send_str(self._waiting.popleft())
        except ConnectionError:
            pass  # its reader ends, too
