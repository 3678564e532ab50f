"""Hosted WebRTC rooms of projects. There is no room server in this version: every request is refused."""

from __future__ import annotations

from onair_api.access.ownership import owned_project
from onair_api.auth.callers import Caller
from onair_api.cache.cluster import Cluster
from onair_api.errors import FailedPrecondition, InvalidArgument, Violation
from onair_api.operation import Ids
from onair_api.settings import LimitSettings
from onair_crds.shapes import JsonObject

MAX_DISPLAY_NAME = 256
NO_ROOMS = "this installation has no server for hosted WebRTC rooms"


class Rooms:
    """Raises `NotFound` where the caller reaches no such project, else `FailedPrecondition`."""

    def __init__(self, cluster: Cluster, limits: LimitSettings) -> None:
        self._cluster = cluster
        self._limits = limits

    async def start(self, caller: Caller, ids: Ids, message: JsonObject) -> JsonObject:
        return await self._refuse(caller, ids)

    async def stop(self, caller: Caller, ids: Ids, message: JsonObject) -> JsonObject:
        return await self._refuse(caller, ids)

    async def create_access_token(self, caller: Caller, ids: Ids, message: JsonObject) -> JsonObject:
        check_access_request(message, self._limits.metadata_bytes)
        return await self._refuse(caller, ids)

    async def _refuse(self, caller: Caller, ids: Ids) -> JsonObject:
        await owned_project(self._cluster, caller.identity, ids["collectionId"], ids["projectId"])
        raise FailedPrecondition(NO_ROOMS)


def check_access_request(message: JsonObject, metadata_bytes: int) -> None:
    """Checks the message of CreateWebRtcAccessToken.

    Raises:
        InvalidArgument: names every wrong field.
    """
    wrong = []
    name = message.get("displayName", message.get("display_name"))
    if name is None or name == "":
        wrong.append(Violation("displayName", "is required"))
    elif not isinstance(name, str):
        wrong.append(Violation("displayName", "must be a string"))
    elif len(name) > MAX_DISPLAY_NAME:
        wrong.append(Violation("displayName", f"must be at most {MAX_DISPLAY_NAME} characters"))
    metadata = message.get("participantMetadata", message.get("participant_metadata"))
    if isinstance(metadata, str) and len(metadata.encode()) > metadata_bytes:
        wrong.append(Violation("participantMetadata", f"must be at most {metadata_bytes} bytes"))
    if wrong:
        raise InvalidArgument(*wrong)
