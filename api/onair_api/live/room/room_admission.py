"""Who holds a token for a room, and whether it still admits: below signalling and administration."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

import jwt
import structlog

from onair_api.auth.callers import Callers
from onair_api.auth.token_runs import is_over
from onair_api.cache.cluster import Cluster
from onair_api.cache.watched_kinds import PROJECT, ROOM
from onair_api.errors import NotFound, PermissionDenied, Unauthenticated, Unavailable
from onair_api.live.room.desired import barred, present_opening, room_wanted, with_room
from onair_api.live.room.join_identities import JoinIdentities
from onair_api.live.room.removals import goes_back_to_removed, is_own_join
from onair_api.live.room.service import REMOVED, RETRY_S, opening_key
from onair_api.live.room.token_origin import TokenOrigin, origin_of
from onair_api.writes.request_note import RequestNote
from onair_api.writes.writer import Writer
from onair_crds.contract.rooms import EMPTY_ROOM_S, is_barred, room_name, user_of
from onair_crds.kube.store import Entry
from onair_crds.resources.room import BarredParticipant
from onair_crds.room_server.client import RoomServer
from onair_crds.room_server.errors import RoomServerError
from onair_crds.shapes import Claims, JsonObject

log = structlog.get_logger()

MAX_TOKEN_CHARACTERS = 65_536
LOOK_S = 1.0
WATCH_LAG_S = 1.0
"""How long a project may have been known to other replicas alone, in seconds."""
WATCH_LOOK_S = 0.05
CLOCK_LEEWAY_S = 10
"""The room server renews tokens by a clock of its own."""
_INVALID = "the room's token is not valid: {}"


@dataclass(frozen=True)
class Admitted:
    """A token that the room server takes, of somebody who may be in the room."""

    project: Entry
    room: str
    opening: int
    identity: str
    is_admin: bool
    origin: TokenOrigin | None
    """None: the token is from before it said so."""


class RoomAdmission:
    """Verifies tokens for rooms, and whether they still admit."""

    def __init__(
        self,
        cluster: Cluster,
        writer: Writer,
        server: RoomServer | None,
        joins: JoinIdentities,
        callers: Callers,
    ) -> None:
        self._cluster = cluster
        self._writer = writer
        self._joins = joins
        self._callers = callers
        self.server = server

    async def admit(self, token: str) -> Admitted:
        """Verifies a token of a room, and returns what it admits to.

        Raises:
            Unauthenticated: it is no token of this room server's, or has expired, or the access token that it
                was made with was revoked, or a key of that deleted, or its run is over, or its chain.
            NotFound: its project is gone, or the room is closed.
            PermissionDenied: who holds it was removed from the room.
            ResourceExhausted: they came too often.
            Unavailable: the room server's credentials cannot be had, or who is in the room.
            ApiError: the API server had to be asked for the key or the room and did not respond.
        """
        claims = await self._verified(token)
        video = claims.get("video")
        grant: JsonObject = video if isinstance(video, dict) else {}
        room, identity = grant.get("room"), claims.get("sub")
        if not isinstance(room, str) or not room or not isinstance(identity, str) or not identity:
            raise Unauthenticated(_INVALID.format("it is for no room"))
        self._callers.rate_limits.count(f"{room}/{identity}", room)
        project, opening = await self._opened(room)
        origin = origin_of(claims)
        if await self._was_removed(project, room, identity, origin):
            raise PermissionDenied(REMOVED)
        if origin and (self._is_over(origin, project) or await self._callers.tokens.has_ended(origin)):
            raise Unauthenticated(_INVALID.format("the access token that it was made with has ended"))
        return Admitted(project, room, opening, identity, grant.get("roomAdmin") is True, origin)

    async def _opened(self, room: str) -> tuple[Entry, int]:
        """The project that an open room is of, and the opening.

        Raises:
            NotFound: the room is closed, and also as the API server has it: this replica may be late.
            ApiError: the API server is unavailable.
        """
        project = await self._project_soon(room)
        opening = _opening_of(project)
        if project is not None and opening is None:
            project = await self._cluster.fetch(PROJECT, project.name)
            opening = _opening_of(project)
        if project is None or opening is None or room_name(project.uid) != room:
            raise NotFound("the room is closed")
        return project, opening

    async def _project_soon(self, room: str) -> Entry | None:
        """The project that a room is of. A token names its uid alone, by which none can be fetched."""
        for _ in range(round(WATCH_LAG_S / WATCH_LOOK_S)):
            if project := self.project_of(room):
                return project
            await asyncio.sleep(WATCH_LOOK_S)
        return self.project_of(room)

    async def _was_removed(
        self, project: Entry, room: str, identity: str, origin: TokenOrigin | None
    ) -> bool:
        """By identity; by lineage those who are not in the room: their token was made before the removal."""
        barred = room_wanted(project.spec).barred
        if is_barred(barred, identity):
            return True
        if origin is None or self.server is None or not goes_back_to_removed(barred, origin):
            return False
        try:
            present = await self.server.participants(room)
        except RoomServerError as error:
            raise Unavailable(error.message, retry_after_s=RETRY_S) from error
        return all(each.identity != identity for each in present)

    async def until_ended(self, admitted: Admitted) -> None:
        """Waits until what the token goes back to has ended, and then disconnects who joined with it."""
        origin = admitted.origin
        if origin is None:
            await asyncio.get_running_loop().create_future()  # it ends only with its opening
            return
        while not self._known_to_have_ended(origin, admitted.room):  # noqa: ASYNC110 - in several ways, on any replica
            await asyncio.sleep(LOOK_S)
        log.info("room.token_ended", room=admitted.room)
        if self.server is None:
            return
        try:
            await self.server.remove(admitted.room, admitted.identity)
        except RoomServerError as error:
            log.warning("room.not_removed", room=admitted.room, error=error.message)

    def _known_to_have_ended(self, origin: TokenOrigin, room: str) -> bool:
        return self._callers.tokens.known_to_have_ended(origin) or self._is_over(
            origin, self.project_of(room)
        )

    def _is_over(self, origin: TokenOrigin, project: Entry | None) -> bool:
        """Whether the run that the token is for is known to have ended, or all tokens of its chain."""
        of_run = origin.run is not None and project is not None and is_over(project, origin.run)
        return of_run or (origin.end is not None and origin.end <= self._callers.tokens.now())

    def project_of(self, room: str) -> Entry | None:
        """The project that a room is of, unless it is being deleted."""
        known = self._cluster.view.select(PROJECT, ROOM, room)
        return next((each for each in known if not each.deleting), None)

    async def open(self, admitted: Admitted) -> None:
        """Makes the room exist on the server: it may be the first join, or the server was restarted.

        Raises:
            Unavailable: the room server does not respond.
        """
        if self.server is None:
            raise Unavailable("there is no room server")
        try:
            await self.server.open(admitted.room, admitted.opening, EMPTY_ROOM_S)
        except RoomServerError as error:
            raise Unavailable(error.message, retry_after_s=RETRY_S) from error

    async def bar(self, admin: Admitted, identity: str) -> None:
        """Keeps somebody out of the room until it is opened again.

        Raises:
            Aborted, NotFound, ApiError: it could not be written.
        """
        room = opening_key(admin.room, admin.opening)
        token = await self._joins.token_of(room, identity)
        lineage = await self._joins.lineage_of(room, identity)
        if is_own_join(lineage, admin.origin):
            lineage = None
        one = BarredParticipant(identity=identity, user=user_of(identity), token=token, lineage=lineage)

        async def change(entry: Entry) -> JsonObject:
            if present_opening(entry.spec, entry.status) != admin.opening:
                return entry.spec
            return with_room(entry.spec, barred(entry.spec, one))

        await self._writer.update(admin.project, change, RequestNote(None, None))

    async def _verified(self, token: str) -> Claims:
        if self.server is None:
            raise NotFound("there is no room server")
        if not token:
            raise Unauthenticated("a token of the room is required")
        if len(token) > MAX_TOKEN_CHARACTERS:
            raise Unauthenticated(_INVALID.format("it is too long"))
        try:
            credentials = await self.server.credentials.get()
        except RoomServerError as error:
            raise Unavailable(error.message, retry_after_s=RETRY_S) from error
        try:
            claims: Claims = jwt.decode(
                token,
                credentials.api_secret,
                algorithms=["HS256"],
                issuer=credentials.api_key,
                leeway=CLOCK_LEEWAY_S,
                options={"require": ["iss", "exp", "sub"], "verify_aud": False, "verify_iat": False},
            )
        except jwt.ExpiredSignatureError:
            raise Unauthenticated(_INVALID.format("it has expired")) from None
        except (jwt.PyJWTError, ValueError, TypeError, OverflowError, RecursionError) as error:
            raise Unauthenticated(_INVALID.format("it cannot be verified")) from error
        return claims


def _opening_of(project: Entry | None) -> int | None:
    return present_opening(project.spec, project.status) if project else None
