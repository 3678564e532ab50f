"""Keeps what the page joins its project's room with, where its layouts show who is there.

A token admits for some minutes to join, so there is a new one before that; a page that has joined stays.
While the facade gives none, a page joins without: its signalling goes to the room server by the agent's own.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import aiohttp

from onair_crds.contract.pod import FACADE_PATH, SOURCES_PORT
from onair_crds.contract.program import Program
from onair_crds.contract.scene import PageRoom
from onair_crds.contract.wire_model import Secret, WireModel
from onair_crds.runtime.stderr_log import log
from onair_encoder.scene.facade_session import (
    CONNECT_TIMEOUT_S,
    FacadeAccess,
    FacadeUnavailable,
    TokenRefused,
    client_session,
    facade_access,
    session_token,
)

RENEW_S = 200.0
"""A token admits for 300 s."""
RETRY_S = 2.0
RETRY_LATE_S = 30.0
"""Where the facade says no, as for a project without a room."""
SIGNALLING_URL = f"ws://127.0.0.1:{SOURCES_PORT}{FACADE_PATH}/webrtc/v2"
"""Through the pod's own port: a page reaches no address of the cluster."""
NO_TOKEN = "none"  # noqa: S105 - in the place of one, see `studio/room_signalling.py`
DISPLAY_NAME = "Renderer"
MAX_RESPONSE = 64 * 1024
REFUSED = {400, 403, 404}


class NoRoom(FacadeUnavailable):
    """The facade says that there is no room to join, or not for this page."""


class _Access(WireModel):
    access_token: Secret


class _Response(WireModel):
    webrtc_access: _Access


class RoomAccess:
    """Keeps the page's access to its project's room valid."""

    def __init__(self, changed: Callable[[PageRoom | None], None]) -> None:
        """
        Args:
            changed: called with what the page may join the room with, None if it is to join none;
                not while neither is known, as after a restart without the facade.
        """
        self._take = changed
        self._wanted: FacadeAccess | None = None
        self._is_wanted = False
        """Whether a programme has said so."""
        self._has_server = False
        """Whether signalling reaches the room server without the facade."""
        self._told = False
        """Whether the page knows what it may join this room with."""
        self._admitted = False
        """Whether this room has had a token: it is there, then, whatever a later response says."""
        self._changed = asyncio.Event()

    def want(self, program: Program) -> None:
        """Keeps access to the room of a programme, if its layouts show anybody who is in it."""
        shows_room = program.scene is not None and program.scene.shows_participants
        wanted = facade_access(program) if shows_room else None
        has_server = program.room_server is not None
        if wanted != self._wanted or has_server != self._has_server or not self._is_wanted:
            if not _same_room(wanted, self._wanted):
                self._admitted = self._told = False
            asks = wanted != self._wanted or not self._is_wanted or (has_server and not self._told)
            self._wanted, self._has_server, self._is_wanted = wanted, has_server, True
            if asks:
                self._changed.set()

    async def run(self) -> None:
        """Ends only when cancelled."""
        async with client_session() as session:
            while True:
                self._changed.clear()
                delay_s = None
                if self._wanted:
                    delay_s = await self._renew(session, self._wanted)
                elif self._is_wanted:
                    self._take(None)
                try:
                    async with asyncio.timeout(delay_s):
                        await self._changed.wait()
                except TimeoutError:
                    pass

    async def _renew(self, session: aiohttp.ClientSession, access: FacadeAccess) -> float:
        """Tells of a new token; gives the delay until the next one."""
        try:
            async with asyncio.timeout(2 * CONNECT_TIMEOUT_S):
                token = await _room_token(session, access)
        except FacadeUnavailable as error:
            log("scene.room-not-opened", why=str(error))
            if isinstance(error, NoRoom):
                self._give_up(access)
            elif not isinstance(error, TokenRefused):
                self._do_without(access)
                if not self._admitted:
                    return RETRY_S
            return RETRY_LATE_S
        except (aiohttp.ClientError, TimeoutError, OSError, ValueError) as error:
            log("scene.room-not-opened", why=type(error).__name__)
            self._do_without(access)
            return RETRY_S
        if access == self._wanted:
            self._admitted = True
            self._tell(token)
        return RENEW_S

    def _do_without(self, access: FacadeAccess) -> None:
        """Lets the page join without a token, unless it has had one: that is passed on as well."""
        if self._has_server and not self._told and access == self._wanted:
            self._tell(NO_TOKEN)

    def _give_up(self, access: FacadeAccess) -> None:
        """Has the page join no room, unless it may be in it: the room was there, or its server is known."""
        joined = self._told and self._has_server
        if not self._admitted and not joined and access == self._wanted:
            self._told = False
            self._take(None)

    def _tell(self, token: str) -> None:
        self._told = True
        self._take(PageRoom.model_validate({"url": SIGNALLING_URL, "token": token}))


def _same_room(one: FacadeAccess | None, other: FacadeAccess | None) -> bool:
    return (one and (one.facade, one.collection, one.project)) == (
        other and (other.facade, other.collection, other.project)
    )


async def _room_token(session: aiohttp.ClientSession, access: FacadeAccess) -> str:
    token = await session_token(session, access)
    path = f"/live/v2/collection/{access.collection}/project/{access.project}/webrtc/token"
    async with session.post(
        f"{access.facade}{path}",
        json={"displayName": DISPLAY_NAME},
        headers={"Authorization": f"Bearer {token}"},
        allow_redirects=False,
    ) as response:
        if response.status in REFUSED:
            raise NoRoom(f"HTTP {response.status}")
        if response.status != 200:
            raise FacadeUnavailable(f"HTTP {response.status}")
        body = await response.content.read(MAX_RESPONSE)
    return room_token(body)


def room_token(body: bytes) -> str:
    """The token of a response of CreateWebRtcAccessToken.

    Raises:
        ValueError: it has none.
    """
    return _Response.model_validate_json(body).webrtc_access.access_token.get_secret_value()
