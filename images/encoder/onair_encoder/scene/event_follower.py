"""Follows changes of layers by the facade's event stream, while there is a programme that says where.

Without the facade nothing is lost but time and animations: the programme brings the layers. The page's token
is exchanged for a session token, which the stream is opened with; what was missed meanwhile comes first.
"""

from __future__ import annotations

import asyncio
import json
import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import urlencode

import aiohttp
from aiohttp import WSMsgType

from onair_crds.contract.program import Program
from onair_crds.runtime.stderr_log import log
from onair_crds.shapes import JsonObject
from onair_encoder.scene.layer_events import PATTERN, layers_event
from onair_encoder.scene.scene import LayersEvent

TOKEN_PATH = "/live/v2/authentication/token"  # noqa: S105 - a path
STREAM_PATH = "/event/v2/stream"
CONNECT_TIMEOUT_S = 5.0
HEARTBEAT_S = 5.0
RETRY_MIN_S, RETRY_MAX_S = 0.5, 15.0
STOOD_S = 10.0
"""A stream that stood for so long is opened again at once."""
MAX_MESSAGE = 4 * 2**20


class FacadeUnavailable(Exception):
    """The facade cannot be followed now; the text says why, in words without secrets."""


@dataclass(frozen=True)
class _Place:
    """Where a programme's changes are told, and by what they may be followed."""

    facade: str
    token: str
    project: str
    session: str


class EventFollower:
    def __init__(self, apply: Callable[[LayersEvent], None]) -> None:
        """
        Args:
            apply: called with each change, in their order.
        """
        self.follows = False
        """Changes are being told."""
        self._apply = apply
        self._wanted: _Place | None = None
        self._changed = asyncio.Event()

    def want(self, program: Program) -> None:
        """Follows a programme's project; the same one again changes nothing."""
        wanted = _place(program)
        if wanted != self._wanted:
            self._wanted = wanted
            self._changed.set()

    async def run(self) -> None:
        """Ends only when cancelled."""
        failures = 0
        async with aiohttp.ClientSession(
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_TIMEOUT_S)
        ) as session:
            while True:
                self._changed.clear()
                began = time.monotonic()
                if self._wanted:
                    await self._follow_until_changed(session, self._wanted)
                failures = 0 if self._changed.is_set() or time.monotonic() - began > STOOD_S else failures + 1
                await self._pause(failures if self._wanted else None)

    async def _pause(self, failures: int | None) -> None:
        """Until another place is wanted, at most for the delay of a retry."""
        delay_s = None
        if failures is not None:
            delay_s = random.uniform(0, min(RETRY_MIN_S * 2.0 ** min(failures, 10), RETRY_MAX_S))  # noqa: S311
        try:
            async with asyncio.timeout(delay_s):
                await self._changed.wait()
        except TimeoutError:
            pass

    async def _follow_until_changed(self, session: aiohttp.ClientSession, place: _Place) -> None:
        following = asyncio.create_task(self._follow(session, place))
        changing = asyncio.create_task(self._changed.wait())
        try:
            await asyncio.wait({following, changing}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            self.follows = False
            for task in (following, changing):
                task.cancel()
            ended, _ = await asyncio.gather(following, changing, return_exceptions=True)
        if isinstance(ended, (FacadeUnavailable, aiohttp.ClientError, TimeoutError, OSError)):
            why = str(ended) if isinstance(ended, FacadeUnavailable) else type(ended).__name__
            log("scene.events-not-followed", why=why)
        elif isinstance(ended, Exception):
            raise ended

    async def _follow(self, session: aiohttp.ClientSession, place: _Place) -> None:
        """Follows until the stream ends, or asks for a new one.

        Raises:
            FacadeUnavailable, ClientError, TimeoutError, OSError: it cannot be followed.
        """
        token = await _session_token(session, place)
        async with session.ws_connect(
            f"{place.facade}{STREAM_PATH}?{urlencode({'sessionid': place.session})}",
            headers={"Authorization": f"Bearer {token}"},
            heartbeat=HEARTBEAT_S,
            max_msg_size=MAX_MESSAGE,
            timeout=aiohttp.ClientWSTimeout(ws_close=1.0),
        ) as stream:
            subscription = {"name": PATTERN, "target": {"projectId": place.project}}
            await stream.send_str(json.dumps({"correlationId": "layers", "subscribe": subscription}))
            async for message in stream:
                if message.type is WSMsgType.TEXT and self._take(message.data):
                    return

    def _take(self, text: str) -> bool:
        """Takes one message; whether it asks for another stream.

        Raises:
            FacadeUnavailable: it is the last one, and says why.
        """
        try:
            message = json.loads(text)
        except ValueError:
            return False
        result = message.get("result") if isinstance(message, dict) else None
        if not isinstance(result, dict):
            raise FacadeUnavailable(f"refused with code {_code(message)}")
        if "subscribed" in result:
            self.follows = True
            log("scene.events-followed")
        elif "error" in result:
            code = _code(result)
            log("scene.events-missed", code=code)
            if not self.follows:
                raise FacadeUnavailable(f"refused with code {code}")
        elif isinstance(event := result.get("event"), dict):
            self._tell(event)
        return "reconnectBefore" in result

    def _tell(self, event: JsonObject) -> None:
        try:
            told = layers_event(event)
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            log("scene.event-unreadable", error=type(error).__name__)
            return
        if told:
            self._apply(told)


def _place(program: Program) -> _Place | None:
    if not (program.scene and program.page_token and program.facade_url) or program.stop:
        return None
    session = f"renderer-{program.project}-{program.broadcast}-{program.epoch}"
    return _Place(program.facade_url, program.page_token.get_secret_value(), program.project, session)


def _code(message: object) -> str:
    error = message.get("error") if isinstance(message, dict) else None
    return str(error.get("code")) if isinstance(error, dict) else "unknown"


async def _session_token(session: aiohttp.ClientSession, place: _Place) -> str:
    """A session token for the page's.

    Raises:
        FacadeUnavailable: the facade gives none.
    """
    headers = {"Authorization": f"Bearer {place.token}"}
    async with (
        asyncio.timeout(CONNECT_TIMEOUT_S),
        session.put(
            f"{place.facade}{TOKEN_PATH}", json={}, headers=headers, allow_redirects=False
        ) as response,
    ):
        if response.status != 200:
            raise FacadeUnavailable(f"HTTP {response.status} to the page's token")
        return response.headers.get("Authorization", "").removeprefix("Bearer ")
