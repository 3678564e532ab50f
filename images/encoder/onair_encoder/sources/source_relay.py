"""Sources for the page, on the pod's loopback: what a gateway sends is passed on as it is.

The page knows ids of sources only: addresses and tokens of gateways stay here. Nothing is kept in between:
a page that takes nothing makes the gateway drop pictures for it, as for any slow reader.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from importlib import resources

import aiohttp
from aiohttp import WSMsgType, web

from onair_crds.contract.access_units import ACCESS_UNITS_SUFFIX, CLOSE_ENDED, CLOSE_TOO_MANY
from onair_crds.contract.ingest_gateway import STREAMS_PATH
from onair_crds.contract.pod import SOURCES_PATH
from onair_crds.contract.program import ProgramSource
from onair_crds.runtime.stderr_log import log
from onair_crds.runtime.until_one_ends import until_one_ends
from onair_encoder.loopback import FROM_ANYWHERE

NAMES = (
    "source.js",
    "stream-clock.js",
    "due-pictures.js",
    "due-audio.js",
    "downmix.js",
    "audio-playout.js",
    "chroma-correction.js",
    "drawn-size.js",
    "paint-phase.js",
)
SCRIPTS = {name: resources.files(__package__).joinpath(name) for name in NAMES}
SETTINGS = "settings.js"
DELAY_MS = 100
CONNECT_TIMEOUT_S = 3.0
HEARTBEAT_S = 5.0
MAX_RECORD = 16 * 2**20
MAX_RELAYED = 8
"""Connections for one source: each is a reader of the gateway. A page needs one, and another as it reloads.
The newest is refused: scripts that were closed for it would reconnect, and close each other for good."""
MAX_OPENED, OPENED_WITHIN_S = 40, 10.0
"""Each opening has the gateway, which others use too, send a whole group of pictures. A page's script opens
two a second of a source whose gateway is away."""


class SourceRelay:
    def __init__(self) -> None:
        self._wanted: dict[str, ProgramSource] = {}
        self._delay_ms = DELAY_MS
        self._relayed: dict[asyncio.Task[None], ProgramSource] = {}
        self._opened: dict[str, deque[float]] = {}
        """When connections of a source were opened last, by its id."""
        self._session: aiohttp.ClientSession | None = None

    @property
    def connected(self) -> list[str]:
        """Ids of the sources that may be shown: those that are connected."""
        return list(self._wanted)

    @property
    def relayed(self) -> list[str]:
        """Ids of the sources that the page takes now, one for each connection."""
        return [source.id for source in self._relayed.values()]

    def want(self, sources: list[ProgramSource], delay_ms: int = DELAY_MS) -> None:
        """Makes these the sources that may be shown; connections of others, or to elsewhere, are closed.

        Args:
            delay_ms: the jitter buffer of pages that say none, from when they are loaded next.
        """
        self._delay_ms = delay_ms
        self._wanted = {source.id: source for source in sources}
        self._opened = {source: opened for source, opened in self._opened.items() if source in self._wanted}
        for task, source in self._relayed.items():
            if self._wanted.get(source.id) != source:
                task.cancel()

    def add_to(self, app: web.Application) -> None:
        """Adds the routes; connections end with the application."""
        app.router.add_get(f"{SOURCES_PATH}/{{name:[a-z-]+\\.js}}", self._script)
        app.router.add_get(f"{SOURCES_PATH}/{{source}}", self._source)
        app.on_cleanup.append(self._close)

    async def _close(self, _: web.Application) -> None:
        self.want([])
        await asyncio.gather(*self._relayed, return_exceptions=True)
        if self._session:
            await self._session.close()

    async def _script(self, request: web.Request) -> web.Response:
        name = request.match_info["name"]
        if name == SETTINGS:
            text = f"export const delayMs = {self._delay_ms};\n"
        elif script := SCRIPTS.get(name):
            text = script.read_text()
        else:
            raise web.HTTPNotFound
        return web.Response(text=text, content_type="text/javascript", headers=FROM_ANYWHERE)

    async def _source(self, request: web.Request) -> web.StreamResponse:
        page = web.WebSocketResponse(heartbeat=HEARTBEAT_S, compress=False)
        await page.prepare(request)
        source = self._wanted.get(request.match_info["source"])
        if source is None:
            await page.close(code=CLOSE_ENDED, message=b"no such source is connected")
            return page
        if not self._may_open(source.id):
            await page.close(code=CLOSE_TOO_MANY, message=b"this source is taken too often")
            return page
        task = asyncio.create_task(self._relay(source, page))
        self._relayed[task] = source
        try:
            await asyncio.wait({task})
        finally:
            task.cancel()
            del self._relayed[task]
            await page.close(code=CLOSE_ENDED)
        return page

    def _may_open(self, source: str) -> bool:
        """Whether one more connection of a source may be opened; it counts as opened then."""
        now, opened = time.monotonic(), self._opened.setdefault(source, deque(maxlen=MAX_OPENED))
        too_fast = len(opened) == MAX_OPENED and now - opened[0] < OPENED_WITHIN_S
        if too_fast or self.relayed.count(source) >= MAX_RELAYED:
            return False
        opened.append(now)
        return True

    async def _relay(self, source: ProgramSource, page: web.WebSocketResponse) -> None:
        url = f"{source.gateway}{STREAMS_PATH}/{source.stream}{ACCESS_UNITS_SUFFIX}"
        headers = {"Authorization": f"Bearer {source.token.get_secret_value()}"}
        timeout = aiohttp.ClientWSTimeout(ws_close=1.0)
        # A gateway that is restarted has another address under its name.
        self._session = self._session or aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(use_dns_cache=False),
            timeout=aiohttp.ClientTimeout(connect=CONNECT_TIMEOUT_S),
        )
        try:
            async with asyncio.timeout(CONNECT_TIMEOUT_S):
                gateway = await self._session.ws_connect(
                    url, headers=headers, heartbeat=HEARTBEAT_S, max_msg_size=MAX_RECORD, timeout=timeout
                )
            async with gateway:
                await until_one_ends(_pass_on(gateway, page), _listen(page))
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            log("source.unavailable", source=source.id, error=type(error).__name__)


async def _pass_on(gateway: aiohttp.ClientWebSocketResponse, page: web.WebSocketResponse) -> None:
    async for message in gateway:
        if message.type is WSMsgType.BINARY:
            await page.send_bytes(message.data)
    if gateway.close_code:
        await page.close(code=gateway.close_code)


async def _listen(page: web.WebSocketResponse) -> None:
    async for _ in page:
        pass
