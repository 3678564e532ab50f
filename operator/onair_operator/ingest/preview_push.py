"""Hands one gateway the previews that it is to publish, room by room, until it has taken them.

A new leader knows neither what the one before it has wanted nor, at first, what it wants itself: it asks the
gateway for its rooms, and leaves each alone until its project has been looked at.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from urllib.parse import quote

import structlog

from onair_crds.contract.previews import PREVIEWS_PATH, Preview, PreviewRooms, RoomPreviews
from onair_crds.contract.room_tokens import PREVIEW_LIFE_S, livekit_preview
from onair_crds.room_server.errors import RoomServerError
from onair_operator.ingest.shown_previews import GatewayRoomAccess, ShownPreviews
from onair_operator.ingest.unreachable import GatewayUnreachable

log = structlog.get_logger()

RENEW_S = PREVIEW_LIFE_S / 2
RETRY_MIN_S, RETRY_MAX_S = 0.1, 2.0
Request = Callable[[str, str, str | None], Awaitable[str]]
"""Method, path and body of a request; gives the body of the response, and raises GatewayUnreachable."""


@dataclass(frozen=True)
class _Taken:
    """What a gateway has taken; None: what an earlier leader wanted."""

    shown: ShownPreviews | None
    at_s: float


class PreviewPush:
    def __init__(
        self, gateway: str, request: Request, ready: Callable[[], bool], access: GatewayRoomAccess | None
    ) -> None:
        """
        Args:
            ready: whether the gateway can be reached, and this process may act.
            access: None if there is no room server, and so nothing to show.
        """
        self._gateway, self._request, self._ready, self._access = gateway, request, ready, access
        self._wanted: dict[str, ShownPreviews] = {}
        self._taken: dict[str, _Taken] = {}
        self._due: set[str] = set()
        """Rooms that the gateway may have to be sent."""
        self._listed = False
        self._news = asyncio.Event()

    def want(self, room: str, shown: ShownPreviews) -> None:
        """Has the gateway show this in a room, and nothing else there, from now on."""
        self._wanted[room] = shown.at(self._gateway)
        self._look_at(room)

    def forget(self, room: str) -> None:
        """The project of a room is gone."""
        self._wanted.pop(room, None)
        self._look_at(room)

    def _look_at(self, room: str) -> None:
        self._due.add(room)
        self._news.set()

    def reached(self) -> None:
        """The gateway can be reached since just now: it may have been restarted, and shows nothing then."""
        self._listed = False
        self._news.set()

    async def run(self) -> None:
        """Hands over until cancelled."""
        if self._access is None:
            return
        delay_s = RETRY_MIN_S
        while True:
            self._news.clear()
            again_s = RENEW_S / 4
            if self._ready():
                try:
                    await self._hand_over(self._access)
                    delay_s = RETRY_MIN_S
                except (GatewayUnreachable, RoomServerError) as error:
                    log.warning("previews.not-pushed", gateway=self._gateway, error=str(error))
                    again_s, delay_s = delay_s, min(delay_s * 2, RETRY_MAX_S)
            elif self._wanted:
                again_s = RETRY_MAX_S
            with suppress(TimeoutError):
                async with asyncio.timeout(again_s):
                    await self._news.wait()

    async def _hand_over(self, access: GatewayRoomAccess) -> None:
        """
        Raises:
            GatewayUnreachable: it does not respond.
            RoomServerError: the room server's credentials cannot be read.
        """
        if not self._listed:
            rooms, now_s = await self._rooms(), time.monotonic()
            self._taken = {room: _Taken(None, now_s) for room in rooms}
            self._due |= self._taken.keys() | self._wanted.keys()
            self._listed = True
        renewed_s = time.monotonic() - RENEW_S
        self._due |= {room for room, taken in self._taken.items() if taken.at_s < renewed_s}
        while self._due:
            room = self._due.pop()
            wanted = self._wanted.get(room)
            if wanted is None:
                if access.exists(room):
                    continue
                wanted = ShownPreviews()
            try:
                await self._bring(access, room, wanted)
            except BaseException:
                self._due.add(room)
                raise

    async def _bring(self, access: GatewayRoomAccess, room: str, wanted: ShownPreviews) -> None:
        taken = self._taken.get(room)
        if not wanted.previews:
            if taken:
                await self._put(room, RoomPreviews(url=access.websocket_url, opening=wanted.opening))
                self._taken.pop(room, None)
            return
        if taken and taken.shown == wanted and time.monotonic() - taken.at_s < RENEW_S:
            return
        credentials = await access.credentials.get()
        previews = {
            each.stream: Preview(
                identity=each.source,
                token=livekit_preview(
                    credentials.api_key, credentials.api_secret, room, each.source, each.display_name
                ),
            )
            for each in wanted.previews
        }
        url = access.websocket_url
        await self._put(room, RoomPreviews(url=url, opening=wanted.opening, previews=previews))
        self._taken[room] = _Taken(wanted, time.monotonic())
        log.info("previews.pushed", gateway=self._gateway, room=room, previews=len(previews))

    async def _put(self, room: str, previews: RoomPreviews) -> None:
        await self._request("PUT", f"{PREVIEWS_PATH}/{quote(room, safe='')}", previews.wire())

    async def _rooms(self) -> list[str]:
        text = await self._request("GET", PREVIEWS_PATH, None)
        if not text:  # a gateway of a version without previews
            return []
        try:
            return PreviewRooms.model_validate_json(text).rooms
        except ValueError as error:
            raise GatewayUnreachable("not a list of rooms") from error
