"""One gateway over HTTP: follows its streams, ends publishers, and hands it what it is to pull.

Tasks of its own do so: a gateway that does not respond holds up nobody.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import suppress
from typing import Annotated
from urllib.parse import quote

import aiohttp
import structlog
from aiohttp.http_exceptions import HttpProcessingError
from prometheus_client import Counter, Gauge
from pydantic import Field, TypeAdapter, ValidationError

from onair_crds.contract.ingest_gateway import (
    PULLS_PATH,
    STREAMS_PATH,
    Heartbeat,
    Pulls,
    StreamState,
)
from onair_crds.contract.wire_model import WireModel
from onair_crds.runtime.bounded_body import bounded_body
from onair_operator.ingest.ended_streams import MAX_STREAMS, EndedStreams
from onair_operator.ingest.gateway_streams import GatewayStreams
from onair_operator.ingest.preview_push import PreviewPush
from onair_operator.ingest.shown_previews import GatewayRoomAccess
from onair_operator.ingest.unreachable import GatewayUnreachable
from onair_operator.settings import GatewaySettings

log = structlog.get_logger()

UNREACHABLE_AFTER_S = 2.8
"""Without a heartbeat, which comes every half second: what is written of it is true within 3 s of its end."""
CONNECT_TIMEOUT_S = 1.0
REQUEST_TIMEOUT_S = 2.0
RETRY_MIN_S, RETRY_MAX_S = 0.1, 1.0
MAX_LINE = 64 * 1024
"""Bytes; a longer one is no stream's."""
MAX_BODY = 1024 * 1024
"""Bytes of a response."""

REACHABLE = Gauge(
    "onair_operator_ingest_gateway_reachable", "1 while a gateway reports its streams.", ["gateway"]
)
CUT_OFFS = Counter("onair_operator_ingest_cut_offs_total", "Publishers that were disconnected.")

_LINE: TypeAdapter[StreamState | Heartbeat] = TypeAdapter(
    Annotated[StreamState | Heartbeat, Field(discriminator="type")]
)


class UnknownLine(WireModel):
    """A line that only newer gateways say, or that has a value which only they know."""

    type: Annotated[str, Field(max_length=64)]
    stream: object = None


class GatewayClient:
    """Follows one gateway from its construction to `close`."""

    def __init__(
        self,
        settings: GatewaySettings,
        headers: Mapping[str, str],
        streams: GatewayStreams,
        leads: Callable[[], bool],
        access: GatewayRoomAccess | None,
        on_heartbeat: Callable[[Heartbeat], None],
    ) -> None:
        """
        Args:
            headers: shown with every request: the token and the leader's term.
            leads: whether this process may act at the moment.
            access: how it is let into rooms.
            on_heartbeat: called with each heartbeat of the gateway.
        """
        self._name, self._url = settings.name, settings.url.rstrip("/")
        self._streams = streams
        self._leads = leads
        self._on_heartbeat = on_heartbeat
        self._heard = time.monotonic()
        """When it last said something, having told all of its streams."""
        self._synced = asyncio.Event()
        self.wanted_pulls: Pulls | None = None
        self._acknowledged: Pulls | None = None
        self._news = asyncio.Event()
        """Of pulls."""
        self._cutting: dict[str, asyncio.Task[None]] = {}
        self.previews = PreviewPush(
            self._name, self._request, lambda: leads() and self._synced.is_set(), access
        )
        # A pod that is restarted has another address under its name.
        connector = aiohttp.TCPConnector(use_dns_cache=False)
        self._session = aiohttp.ClientSession(connector=connector, read_bufsize=MAX_LINE, headers=headers)
        REACHABLE.labels(self._name).set(0)
        self._tasks = (
            asyncio.create_task(self._follow(), name=f"follow {self._name}"),
            asyncio.create_task(self._judge(), name=f"judge {self._name}"),
            asyncio.create_task(self._push_pulls(), name=f"pulls of {self._name}"),
            asyncio.create_task(self.previews.run(), name=f"previews of {self._name}"),
        )

    async def close(self) -> None:
        tasks = (*self._tasks, *self._cutting.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self._session.close()
        REACHABLE.remove(self._name)

    def show(self, authorization: str) -> None:
        """Shows another token from the next request on."""
        self._session.headers["Authorization"] = authorization

    def want_pulls(self, pulls: Pulls) -> None:
        """Hands over in the background what it is to pull, until it has acknowledged it."""
        if pulls != self.wanted_pulls:
            self.wanted_pulls = pulls
            self._streams.want_pulls(self._name, pulls.pulls.keys())
            self._news.set()

    def cut_off(self, stream: str) -> None:
        """Disconnects a publisher, in the background, by one attempt: the next look sees what came of it."""
        if stream not in self._cutting:
            task = self._cutting[stream] = asyncio.create_task(self._cut_off(stream))
            task.add_done_callback(lambda _: self._cutting.pop(stream, None))

    async def _cut_off(self, stream: str) -> None:
        if not self._leads():
            return
        try:
            await self._request("DELETE", f"{STREAMS_PATH}/{quote(stream, safe='')}")
        except GatewayUnreachable as error:
            log.warning("ingest.not-cut-off", gateway=self._name, stream=stream, error=str(error))
        else:
            CUT_OFFS.inc()
            log.info("ingest.cut-off", gateway=self._name, stream=stream)

    async def _follow(self) -> None:
        delay_s = RETRY_MIN_S
        while True:
            try:
                async for told_all in self._lines():
                    if told_all:
                        delay_s = RETRY_MIN_S
            except GatewayUnreachable as error:
                log.debug("gateway.unreachable", gateway=self._name, error=str(error))
            await asyncio.sleep(delay_s)
            delay_s = min(delay_s * 1.5, RETRY_MAX_S)

    async def _lines(self) -> AsyncIterator[bool]:
        """Takes what the gateway reports; gives, after each line, whether it has reported everything."""
        first: dict[str, StreamState] | None = {}
        """Those that are online."""
        online = 0
        ended = EndedStreams(self._streams.wanted_pulls(self._name))
        is_newer = False
        timeout = aiohttp.ClientTimeout(
            total=None, sock_connect=CONNECT_TIMEOUT_S, sock_read=UNREACHABLE_AFTER_S
        )
        try:
            url = self._url + STREAMS_PATH
            async with self._session.get(url, timeout=timeout, allow_redirects=False) as response:
                if response.status != 200:
                    raise GatewayUnreachable(f"HTTP {response.status}")
                async for line in response.content:
                    message = _parsed(line)
                    if isinstance(message, UnknownLine):
                        if not is_newer:
                            log.warning("gateway.unknown_line", gateway=self._name, type=message.type)
                        is_newer = True
                        if first is None and isinstance(message.stream, str):
                            # What was known of it is no longer so
                            self._streams.forget(self._name, message.stream)
                    elif first is None:
                        self._take(message)
                    elif isinstance(message, Heartbeat):
                        self._take_all([*first.values(), *ended])
                        first = None
                    elif message.online:
                        online += 1
                        if online > MAX_STREAMS:
                            raise GatewayUnreachable(f"more than {MAX_STREAMS} streams")
                        first[message.stream] = message
                        ended.pop(message.stream)
                    else:
                        first.pop(message.stream, None)
                        ended.put(message)
                    yield first is None
        except (aiohttp.ClientError, HttpProcessingError, TimeoutError, OSError, ValueError) as error:
            raise GatewayUnreachable(type(error).__name__) from error

    def _take_all(self, states: list[StreamState]) -> None:
        if not self._synced.is_set():
            log.info("gateway.reachable", gateway=self._name, streams=len(states))
        self._heard = time.monotonic()
        REACHABLE.labels(self._name).set(1)
        self._synced.set()
        # It may have been restarted, and pulls nothing then.
        self._acknowledged = None
        self._news.set()
        self.previews.reached()
        self._streams.told_all(self._name, states)

    def _take(self, message: StreamState | Heartbeat) -> None:
        """Takes one line after the first heartbeat."""
        self._heard = time.monotonic()
        if not self._synced.is_set():
            raise GatewayUnreachable("it was silent for too long")
        if isinstance(message, Heartbeat):
            self._streams.heard(self._name)
            self._on_heartbeat(message)
            return
        self._streams.told(self._name, message)
        if self._streams.online(self._name) > MAX_STREAMS:
            raise GatewayUnreachable(f"more than {MAX_STREAMS} streams")

    async def _judge(self) -> None:
        """Takes it for unreachable whenever it has been silent for too long."""
        while True:
            remaining_s = self._heard + UNREACHABLE_AFTER_S - time.monotonic()
            if remaining_s > 0:
                await asyncio.sleep(remaining_s)
                continue
            log.warning("gateway.unreachable", gateway=self._name)
            REACHABLE.labels(self._name).set(0)
            self._synced.clear()
            self._streams.unreachable(self._name)
            await self._synced.wait()

    async def _push_pulls(self) -> None:
        delay_s = RETRY_MIN_S
        while True:
            self._news.clear()
            wanted = self.wanted_pulls
            again_s: float | None = None
            if wanted is not None and wanted != self._acknowledged:
                again_s, delay_s = delay_s, min(delay_s * 2, RETRY_MAX_S)
                if self._leads() and self._synced.is_set():
                    try:
                        await self._request("PUT", PULLS_PATH, wanted.wire())
                    except GatewayUnreachable as error:
                        log.warning("ingest.pulls-not-pushed", gateway=self._name, error=str(error))
                    else:
                        self._acknowledged, again_s, delay_s = wanted, None, RETRY_MIN_S
                        log.info("ingest.pulls-pushed", gateway=self._name, pulls=len(wanted.pulls))
            with suppress(TimeoutError):
                async with asyncio.timeout(again_s):
                    await self._news.wait()

    async def _request(self, method: str, path: str, body: str | None = None) -> str:
        """The body of the response; empty if there is no such thing.

        Raises:
            GatewayUnreachable: no response, or no success; what is to be deleted may be gone.
        """
        headers = {"Content-Type": "application/json"} if body else {}
        timeout = aiohttp.ClientTimeout(total=REQUEST_TIMEOUT_S, sock_connect=CONNECT_TIMEOUT_S)
        data = body.encode() if body else None
        # What it is to pull holds keys, and who is redirected reaches what only this process does.
        request = self._session.request(
            method, self._url + path, data=data, headers=headers, timeout=timeout, allow_redirects=False
        )
        try:
            async with request as response:
                if response.status == 404 and method in ("DELETE", "GET"):
                    return ""
                if response.status >= 300:
                    raise GatewayUnreachable(f"HTTP {response.status}")
                return (await bounded_body(response, MAX_BODY)).decode()
        except (aiohttp.ClientError, TimeoutError, OSError, ValueError) as error:
            raise GatewayUnreachable(type(error).__name__) from error


def _parsed(line: bytes) -> StreamState | Heartbeat | UnknownLine:
    """
    Raises:
        ValueError: no gateway says this.
    """
    try:
        return _LINE.validate_json(line)
    except ValidationError:
        return UnknownLine.model_validate_json(line)
