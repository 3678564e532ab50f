"""Follows changes of layers by the facade's event stream, while there is a programme that says where.

Without the facade nothing is lost but time and animations: the programme brings the layers. The page's token
is exchanged for a session token, which the stream is opened with; what was missed meanwhile comes first.
"""

from __future__ import annotations

import asyncio
import json
import math
import random
import time
from collections.abc import Callable
from urllib.parse import urlencode

import aiohttp
from aiohttp import WSMsgType

from onair_crds.backoff import backoff_s
from onair_crds.contract.facade_paths import EVENT_STREAM_PATH
from onair_crds.contract.program import Program
from onair_crds.runtime.stderr_log import log
from onair_crds.runtime.until_one_ends import until_one_ends
from onair_crds.shapes import JsonObject
from onair_encoder.scene.facade_session import (
    CONNECT_TIMEOUT_S,
    FacadeAccess,
    FacadeUnavailable,
    client_session,
    facade_access,
    session_token,
)
from onair_encoder.scene.layer_events import PATTERN, layers_event
from onair_encoder.scene.scene import LayersEvent

HEARTBEAT_S = 5.0
RETRY_MIN_S, RETRY_MAX_S = 0.5, 15.0
STOOD_S = 10.0
"""A stream that stood for so long is opened again at once."""
SOON_AGAIN_S = 3.0
"""A stream that ended is expected back for so long: it begins with what was missed."""
MAX_MESSAGE = 4 * 2**20


class EventFollower:
    def __init__(self, apply: Callable[[LayersEvent], None]) -> None:
        """
        Args:
            apply: called with each change, in their order.
        """
        self.follows = False
        """Changes are arriving."""
        self._ended_at = -math.inf
        """When changes arrived last, by the monotonic clock."""
        self._apply = apply
        self._wanted: FacadeAccess | None = None
        self._changed = asyncio.Event()

    @property
    def flow(self) -> bool:
        """Whether changes arrive, or will as soon as a stream that ended is open again."""
        return self.follows or time.monotonic() - self._ended_at < SOON_AGAIN_S

    def want(self, program: Program) -> None:
        """Follows a programme's project; the same one again changes nothing."""
        wanted = facade_access(program) if program.scene else None
        if wanted != self._wanted:
            self._wanted = wanted
            self._changed.set()

    async def run(self) -> None:
        """Ends only when cancelled."""
        failures = 0
        async with client_session() as session:
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
            delay_s = random.uniform(0, backoff_s(failures, RETRY_MIN_S, RETRY_MAX_S))  # noqa: S311
        try:
            async with asyncio.timeout(delay_s):
                await self._until_changed()
        except TimeoutError:
            pass

    async def _follow_until_changed(self, session: aiohttp.ClientSession, access: FacadeAccess) -> None:
        try:
            following, _ = await until_one_ends(self._follow(session, access), self._until_changed())
        finally:
            if self.follows:
                self._ended_at = time.monotonic()
            self.follows = False
        if failure := None if following.cancelled() else following.exception():
            # Whatever it is: the programme continues without events, and they are tried again
            why = str(failure) if isinstance(failure, FacadeUnavailable) else type(failure).__name__
            log("scene.events-not-followed", why=why)

    async def _until_changed(self) -> None:
        await self._changed.wait()

    async def _follow(self, session: aiohttp.ClientSession, access: FacadeAccess) -> None:
        """Follows until the stream ends, or asks for a new one.

        Raises:
            FacadeUnavailable, ClientError, TimeoutError: it cannot be followed.
        """
        token = await session_token(session, access)
        # Only a stream that is open has heartbeats
        async with asyncio.timeout(CONNECT_TIMEOUT_S):
            opened = await session.ws_connect(
                f"{access.facade}{EVENT_STREAM_PATH}?{urlencode({'sessionid': access.session})}",
                headers={"Authorization": f"Bearer {token}"},
                heartbeat=HEARTBEAT_S,
                max_msg_size=MAX_MESSAGE,
                timeout=aiohttp.ClientWSTimeout(ws_close=1.0),
            )
        async with opened as stream:
            subscription = {"name": PATTERN, "target": {"projectId": access.project}}
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


def _code(message: object) -> str:
    error = message.get("error") if isinstance(message, dict) else None
    return str(error.get("code")) if isinstance(error, dict) else "unknown"
