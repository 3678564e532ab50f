"""Hosted WebRTC rooms of projects. The room server comes in a later version, so none can be had yet."""

from __future__ import annotations

from typing import Any

from onair_api.access.ownership import owned_project
from onair_api.auth.caller import Caller
from onair_api.cache.cluster import Cluster
from onair_api.errors import FailedPrecondition, InvalidArgument, Violation

MAX_DISPLAY_NAME = 256
NO_ROOMS = "this installation has no server for hosted WebRTC rooms"


class Rooms:
    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster

    async def refuse(self, caller: Caller, collection_id: str, project_id: str) -> None:
        """
        Raises:
            NotFound: the caller reaches no such project.
            FailedPrecondition: there is no room server.
        """
        await owned_project(self._cluster, caller.identity, collection_id, project_id)
        raise FailedPrecondition(NO_ROOMS)


def check_access_request(body: dict[str, Any], metadata_bytes: int) -> None:
    """Judges the body of CreateWebRtcAccessToken.

    Raises:
        InvalidArgument: names every wrong field.
    """
    wrong = []
    name = body.get("displayName", body.get("display_name"))
    if name is None or name == "":
        wrong.append(Violation("displayName", "is required"))
    elif not isinstance(name, str):
        wrong.append(Violation("displayName", "must be a string"))
    elif len(name) > MAX_DISPLAY_NAME:
        wrong.append(Violation("displayName", f"must be at most {MAX_DISPLAY_NAME} characters"))
    metadata = body.get("participantMetadata", body.get("participant_metadata"))
    if isinstance(metadata, str) and len(metadata.encode()) > metadata_bytes:
        wrong.append(Violation("participantMetadata", f"must be at most {metadata_bytes} bytes"))
    if wrong:
        raise InvalidArgument(*wrong)
