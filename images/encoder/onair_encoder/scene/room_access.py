"""Keeps what the page joins its project's room with, where its layouts show who is there.

A token admits for some minutes to join, so there is a new one before that; a page that has joined stays.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import aiohttp

from onair_crds.contract.pod import FACADE_PATH, SOURCES_PORT
from onair_crds.contract.program import Program
from onair_crds.contract.scene import Room
from onair_crds.contract.wire_model import Secret, WireModel
from onair_crds.runtime.stderr_log import log
from onair_encoder.scene.facade_session import (
    CONNECT_TIMEOUT_S,
    FacadeAccess,
    FacadeUnavailable,
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
LAYER = "webrtc"
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
    def __init__(self, changed: Callable[[Room | None], None]) -> None:
        """
        Args:
            changed: called with what the page may join the room with, None where it is to join none;
                not while neither is known, as after a restart without the facade.
        """
        self._take = changed
        self._wanted: FacadeAccess | None = None
        self._is_wanted = False
        """Whether a programme has said so."""
        self._admitted = False
        """Whether this room has had a token: it is there, then, whatever a later response says."""
        self._changed = asyncio.Event()

    def want(self, program: Program) -> None:
        """Keeps access to the room of a programme, if its layouts show anybody who is in it."""
        wanted = facade_access(program) if shows_room(program) else None
        if wanted != self._wanted or not self._is_wanted:
            if not _same_room(wanted, self._wanted):
                self._admitted = False
            self._wanted, self._is_wanted = wanted, True
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
            if isinstance(error, NoRoom) and not self._admitted and access == self._wanted:
                self._take(None)
            return RETRY_LATE_S
        except (aiohttp.ClientError, TimeoutError, OSError, ValueError) as error:
            log("scene.room-not-opened", why=type(error).__name__)
            return RETRY_S
        if access == self._wanted:
            self._admitted = True
            self._take(Room.model_validate({"url": SIGNALLING_URL, "token": token}))
        return RENEW_S


def _same_room(one: FacadeAccess | None, other: FacadeAccess | None) -> bool:
    return (one and (one.facade, one.collection, one.project)) == (
        other and (other.facade, other.collection, other.project)
    )


def shows_room(program: Program) -> bool:
    """Whether a layout of the programme has a layer that shows somebody in the room."""
    layouts = program.scene.layouts if program.scene else []
    return any(layer.type == LAYER for layout in layouts for layer in layout.layers)


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
