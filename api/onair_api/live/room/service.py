"""Hosted WebRTC rooms of projects: opens and closes them, and makes the tokens that admit to them."""

from __future__ import annotations

import datetime as dt

import structlog

from onair_api.access.ownership import owned_project
from onair_api.auth.callers import Caller
from onair_api.auth.identity import Identity
from onair_api.cache.cluster import Cluster
from onair_api.errors import FailedPrecondition, PermissionDenied, Unavailable
from onair_api.live.room.desired import closed, hosted, opened, present_opening, room_wanted, with_room
from onair_api.live.room.join_identities import MOST_JOINS, MOST_WATCHING, JoinIdentities
from onair_api.live.room.removals import fingerprint, lineage_mark, was_removed
from onair_api.live.room.request import access_request
from onair_api.live.room.token_origin import origin_of_access, origin_text
from onair_api.operation import Ids
from onair_api.settings import RoomSettings
from onair_api.writes.writer import Writer
from onair_crds.contract.room_tokens import livekit_participant, participant_metadata, publishes
from onair_crds.contract.rooms import RENDERER_PREFIX, is_barred, room_name
from onair_crds.kube.store import Entry
from onair_crds.resources.enums import Role
from onair_crds.room_server.client import RoomServer
from onair_crds.room_server.errors import RoomServerError
from onair_crds.shapes import JsonObject

log = structlog.get_logger()

NO_ROOMS = "this installation has no server for hosted WebRTC rooms"
NOT_HOSTED = "the project has no hosted WebRTC room: set webrtc.hosted"
REMOVED = "you were removed from this room"
RETRY_S = 1


class Rooms:
    """Serves the operations on rooms.

    All raise `NotFound` where the caller reaches no such project, and `FailedPrecondition` where that has no
    room.
    """

    def __init__(
        self,
        cluster: Cluster,
        writer: Writer,
        server: RoomServer | None,
        joins: JoinIdentities,
        settings: RoomSettings,
    ) -> None:
        """
        Args:
            server: None if this installation has none.
        """
        self._cluster = cluster
        self._writer = writer
        self._server = server
        self._joins = joins
        self._settings = settings

    async def start(self, caller: Caller, ids: Ids, message: JsonObject) -> JsonObject:
        """Opens the room; nothing happens where it is open."""
        project, _ = await self._project(caller, ids)
        await self._open(project, caller)
        return {}

    async def stop(self, caller: Caller, ids: Ids, message: JsonObject) -> JsonObject:
        """Closes the room, which disconnects everybody; nothing happens where it is closed."""
        project, _ = await self._project(caller, ids)

        async def change(entry: Entry) -> JsonObject:
            return with_room(entry.spec, closed(entry.spec))

        before, after = await self._writer.update(project, change, caller.note())
        if after is not before:
            log.info("room.close_requested", project=project.name)
        return {}

    async def create_access_token(self, caller: Caller, ids: Ids, message: JsonObject) -> JsonObject:
        """A token for the room, which is opened where it is closed.

        Raises:
            PermissionDenied: the caller was removed from the room.
            Unavailable: the room server does not respond.
        """
        asked = access_request(message)
        project, server = await self._project(caller, ids)
        identity, role = caller.identity, caller.identity.role
        if role is None:
            raise PermissionDenied("this token has no role")
        project = await self._open(project, caller)
        room, opening = room_name(project.uid), present_opening(project.spec, project.status)
        wanted, token = room_wanted(project.spec), fingerprint(caller.token.id)
        user = _user(identity, role, project)
        if was_removed(wanted.barred, identity, user, token):
            raise PermissionDenied(REMOVED)
        try:
            present = {each.identity for each in await server.participants(room)}
            credentials = await server.credentials.get()
        except RoomServerError as error:
            raise Unavailable(error.message, retry_after_s=RETRY_S) from error
        present |= {str(each["sourceId"]) for each in project.spec.get("sources") or []}
        participant = await self._joins.assign(
            opening_key(room, opening),
            user,
            token,
            present,
            lambda each: is_barred(wanted.barred, each),
            lineage_mark(identity),
            MOST_JOINS if publishes(role) else MOST_WATCHING,
        )
        access = livekit_participant(
            credentials.api_key,
            credentials.api_secret,
            room=room,
            identity=participant,
            role=role,
            display_name=asked.display_name,
            metadata=participant_metadata(asked.display_name, role, asked.metadata),
            until=dt.datetime.now(dt.UTC) + dt.timedelta(seconds=self._settings.token_s),
            origin=origin_text(origin_of_access(caller.token)),
        )
        return {
            "webrtcAccess": {"accessToken": access.get_secret_value(), "participantId": participant},
        }

    async def _project(self, caller: Caller, ids: Ids) -> tuple[Entry, RoomServer]:
        project = await owned_project(self._cluster, caller.identity, ids["collectionId"], ids["projectId"])
        if self._server is None:
            raise FailedPrecondition(NO_ROOMS)
        if not hosted(project.spec):
            raise FailedPrecondition(NOT_HOSTED)
        return project, self._server

    async def _open(self, project: Entry, caller: Caller) -> Entry:
        """The project with its room wanted open."""
        now = dt.datetime.now(dt.UTC)
        if opened(project.spec, project.status, now) == (project.spec.get("room") or {}):
            return project

        async def change(entry: Entry) -> JsonObject:
            if not hosted(entry.spec):
                raise FailedPrecondition(NOT_HOSTED)
            return with_room(entry.spec, opened(entry.spec, entry.status, now))

        before, after = await self._writer.update(project, change, caller.note())
        if after is not before:
            log.info("room.open_requested", project=project.name)
        return after


def opening_key(room: str, opening: int | None) -> str:
    """Names one opening of a room."""
    return f"{room}:{opening}"


def _user(identity: Identity, role: Role, project: Entry) -> str:
    if role is Role.RENDERER:
        epoch = (project.status.get("broadcast") or {}).get("epoch") or 0
        return f"{RENDERER_PREFIX}{epoch}"
    user = identity.service_user_id
    return f"user-{user}" if user.startswith(RENDERER_PREFIX) else user
