"""Keeps the room server's rooms as they are wanted, and says who is in them.

Every second all rooms are listed: so rooms come back when their server was restarted, and nothing depends on
a message that may be lost. Only the leader acts.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from dataclasses import dataclass, replace

import structlog
from prometheus_client import Counter

from onair_crds.contract.participant_roles import verified_role
from onair_crds.contract.previews import preview_metadata
from onair_crds.contract.rooms import EMPTY_ROOM_S
from onair_crds.room_server.client import RoomServer, ServerParticipant, ServerRoom
from onair_crds.room_server.errors import RoomServerError
from onair_operator.room.metadata import repaired

log = structlog.get_logger()

INTERVAL_S = 1.0
QUIET_PASSES = 5
"""A room that looks empty is asked for those unseen in it only so often: they are not counted."""
PARALLEL = 8
NO_OPENING = 2**62
"""Above every opening: of a project that is gone."""
FAILURES = Counter("onair_operator_room_server_failures_total", "Requests to the room server that failed.")


@dataclass(frozen=True)
class KeptRoom:
    """How a room is to be kept."""

    project: str
    opening: int | None
    """None where it is to be closed."""
    last: int
    """The opening that it had last; a room of a later one is not closed."""
    barred: frozenset[str] = frozenset()
    """Identities that are removed where they are found."""
    names: frozenset[tuple[str, str]] = frozenset()
    """Identities of previews that there may be, each with the name that it is to have."""


@dataclass(frozen=True)
class RoomView:
    """A room as it was seen last."""

    opening: int | None = None
    """The opening that it is kept for; None while it is not there."""
    participants: tuple[ServerParticipant, ...] = ()
    error: str | None = None
    """Why the room server does not do what is wanted."""


class Rooms:
    """Without a server nothing is kept, and nothing seen."""

    def __init__(
        self,
        server: RoomServer | None = None,
        changed: Callable[[str], None] = lambda project: None,
        leads: Callable[[], bool] = lambda: True,
    ) -> None:
        """
        Args:
            changed: hears the project of every room of which something else is seen.
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

    def kept(self, room: str) -> KeptRoom | None:
        return self._kept.get(room)

    def view(self, room: str) -> RoomView | None:
        """None where nothing was seen yet."""
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
            if self._kept and self._leads():
                await self._pass(self._server)
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._wake.wait(), INTERVAL_S)
            self._wake.clear()

    async def _pass(self, server: RoomServer) -> None:
        self._passes += 1
        kept = dict(self._kept)
        try:
            listed = {room.name: room for room in await server.rooms()}
        except RoomServerError as error:
            for room, wanted in kept.items():
                self._failed(room, wanted, error)
            return
        turns = asyncio.Semaphore(PARALLEL)

        async def keep(room: str, wanted: KeptRoom) -> None:
            async with turns:
                try:
                    view = await self._keep(server, room, wanted, listed.get(room))
                except RoomServerError as error:
                    self._failed(room, wanted, error)
                else:
                    self._seen(room, wanted, view)

        async with asyncio.TaskGroup() as group:
            for room, wanted in kept.items():
                group.create_task(keep(room, wanted))

    async def _keep(
        self, server: RoomServer, room: str, wanted: KeptRoom, present: ServerRoom | None
    ) -> RoomView:
        if wanted.opening is None:
            if present and (present.opening or 0) <= wanted.last:
                await server.delete(room)
            elif wanted.last == NO_OPENING:
                self.keep(room, None)
            return RoomView()
        if present is None or (present.opening is not None and present.opening < wanted.opening):
            if not self._leads():
                return RoomView()
            await server.open(room, wanted.opening, EMPTY_ROOM_S)
            return RoomView(wanted.opening)
        known = self._views.get(room)
        looks_empty = not present.participants and known is not None and not known.participants
        # Who joins where there is a source to see is to see it soon: the server counts only every few seconds
        if looks_empty and not wanted.names and self._passes % QUIET_PASSES:
            return RoomView(wanted.opening)
        found = await server.participants(room)
        secret = (await server.credentials.get()).api_secret
        names = dict(wanted.names)
        for each in found:
            if each.identity in wanted.barred:
                await server.remove(room, each.identity)
            elif name := names.get(each.identity):
                metadata = preview_metadata(name, each.videos)
                if (each.name, each.metadata) != (name, metadata):
                    await server.rename(room, each.identity, name, metadata)
            elif not each.hidden:
                metadata = repaired(each, verified_role(secret, room, each.identity, each.attributes))
                if each.metadata != metadata:
                    await server.rename(room, each.identity, each.name, metadata)
        return RoomView(wanted.opening, tuple(each for each in found if each.identity not in wanted.barred))

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
