"""Keeps the room server's rooms as they are wanted, and says who is in them.

Every second all rooms are listed: so rooms come back when their server was restarted, and nothing depends on
a message that may be lost. Only the leader acts.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from dataclasses import replace

import structlog
from prometheus_client import Counter

from onair_crds.contract.rooms import EMPTY_ROOM_S
from onair_crds.room_server.client import MAX_LISTED_ROOMS, RoomServer, ServerRoom
from onair_crds.room_server.errors import RoomServerError
from onair_operator.room.plan import (
    NO_OPENING,
    ClearAttributes,
    KeptRoom,
    Remove,
    Rename,
    RoomServerAccess,
    RoomStep,
    RoomView,
    changes,
    next_step,
)

log = structlog.get_logger()

INTERVAL_S = 1.0
QUIET_PASSES = 5
"""A room that looks empty is asked for those in it only so often: some are not counted."""
PARALLEL = 8
FAILURES = Counter("onair_operator_room_server_failures_total", "Requests to the room server that failed.")


class KeptRooms:
    """Keeps rooms on their server, and knows who is in them; without a server, nothing."""

    def __init__(
        self,
        server: RoomServer | None = None,
        changed: Callable[[str], None] = lambda project: None,
        leads: Callable[[], bool] = lambda: True,
    ) -> None:
        """
        Args:
            changed: called with the project of every room of which something else is seen.
            leads: whether this process may act at the moment.
        """
        self._server = server
        self._changed = changed
        self._leads = leads
        self._kept: dict[str, KeptRoom] = {}
        self._views: dict[str, RoomView] = {}
        self._wake = asyncio.Event()
        self._passes = 0

    @property
    def available(self) -> bool:
        return self._server is not None

    @property
    def access(self) -> RoomServerAccess | None:
        """How the room server is reached; None without one, and until its credentials have been read."""
        server = self._server
        known = server.credentials.known if server else None
        return RoomServerAccess(server.url, known) if server and known else None

    def kept(self, room: str) -> KeptRoom | None:
        return self._kept.get(room)

    def view(self, room: str) -> RoomView | None:
        """A room as it was seen last; None if nothing was seen yet."""
        return self._views.get(room)

    def keep(self, room: str, wanted: KeptRoom | None) -> None:
        """Keeps a room so from now on, in the background; None: it is closed, and nothing more is wanted."""
        if self._server is None:
            return
        if wanted is None:
            self._kept.pop(room, None)
            self._views.pop(room, None)
            return
        before = self._kept.get(room)
        if before is None or before.opening != wanted.opening:
            self._views.pop(room, None)
        self._kept[room] = wanted
        self._wake.set()

    def drop(self, room: str, project: str) -> None:
        """Closes the room of a project that is gone."""
        if room in self._kept:
            self.keep(room, KeptRoom(project, None, NO_OPENING))

    async def run(self) -> None:
        """Looks and acts until cancelled."""
        if self._server is None:
            return
        while True:
            await self._know_credentials(self._server)
            if self._kept and self._leads():
                try:
                    await self._pass(self._server)
                except Exception:  # what one room says must not end what leads
                    log.exception("rooms.not_looked_at")
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(INTERVAL_S):
                    await self._wake.wait()
            self._wake.clear()

    async def _know_credentials(self, server: RoomServer) -> None:
        """Before this process leads: programmes of the first look at a project are to have them."""
        if server.credentials.known is None:
            with contextlib.suppress(RoomServerError):
                await server.credentials.get()

    async def _pass(self, server: RoomServer) -> None:
        self._passes += 1
        kept, turns = list(self._kept.items()), asyncio.Semaphore(PARALLEL)
        async with asyncio.TaskGroup() as group:
            for begin in range(0, len(kept), MAX_LISTED_ROOMS):
                some = dict(kept[begin : begin + MAX_LISTED_ROOMS])
                group.create_task(self._keep_some(server, some, turns))

    async def _keep_some(
        self, server: RoomServer, kept: dict[str, KeptRoom], turns: asyncio.Semaphore
    ) -> None:
        """Keeps as many rooms as one list may name; how that ends is nothing to the others."""
        try:
            async with turns:
                listed = {room.name: room for room in await server.rooms(list(kept))}
        except Exception as error:  # what one room says must not keep the others from being looked at
            if not isinstance(error, RoomServerError):
                log.exception("rooms.not_listed")
                error = _internal(error)
            for room, wanted in kept.items():
                self._failed(room, wanted, error)
            return

        async def keep(room: str, wanted: KeptRoom) -> None:
            async with turns:
                # Since the rooms were listed it has become another one, which the next pass sees
                if self._kept.get(room) != wanted:
                    return
                try:
                    view = await self._keep(server, room, wanted, listed.get(room))
                except RoomServerError as error:
                    self._failed(room, wanted, error)
                except Exception as error:  # what one room says must not keep the others from being looked at
                    log.exception("room.not_looked_at", room=room, project=wanted.project)
                    self._failed(room, wanted, _internal(error))
                else:
                    self._seen(room, wanted, view)

        async with asyncio.TaskGroup() as group:
            for room, wanted in kept.items():
                group.create_task(keep(room, wanted))

    async def _keep(
        self, server: RoomServer, room: str, wanted: KeptRoom, present: ServerRoom | None
    ) -> RoomView:
        is_quiet = bool(self._passes % QUIET_PASSES)
        match next_step(wanted, present, self._views.get(room), is_quiet=is_quiet):
            case RoomStep.DELETE:
                await server.delete(room)
                return RoomView()
            case RoomStep.FORGET:
                self.keep(room, None)
                return RoomView()
            case RoomStep.LEAVE_CLOSED:
                return RoomView()
            case RoomStep.OPEN:
                if wanted.opening is None or not self._leads():
                    return RoomView()
                await server.open(room, wanted.opening, EMPTY_ROOM_S)
                return RoomView(wanted.opening)
            case RoomStep.TAKE_AS_EMPTY:
                return RoomView(wanted.opening)
            case RoomStep.LIST:
                found = await server.participants(room)
        for each in changes(room, wanted, found, (await server.credentials.get()).api_secret):
            match each:
                case Remove(identity):
                    await server.remove(room, identity)
                case Rename(identity, name, metadata):
                    await server.rename(room, identity, name, metadata)
                case ClearAttributes(identity):
                    await server.clear_attributes(room, identity)
        stay = (each for each in found if each.identity not in wanted.barred and not each.is_oversized)
        return RoomView(wanted.opening, tuple(stay))

    def _seen(self, room: str, wanted: KeptRoom, view: RoomView) -> None:
        now = self._kept.get(room)
        if now is None or now.opening != wanted.opening:
            return
        if self._views.get(room) == view:
            return
        self._views[room] = view
        self._changed(wanted.project)

    def _failed(self, room: str, wanted: KeptRoom, error: RoomServerError) -> None:
        FAILURES.inc()
        known = self._views.get(room) or RoomView()
        if known.error is None:
            log.warning("room.not_kept", room=room, project=wanted.project, error=error.message)
        self._seen(room, wanted, replace(known, error=error.message))

    async def close(self) -> None:
        if self._server:
            await self._server.close()


def _internal(error: Exception) -> RoomServerError:
    return RoomServerError(f"internal error ({type(error).__name__})")
