"""The operations on hosted WebRTC rooms."""

from __future__ import annotations

from onair_api.auth.callers import ByAccessToken
from onair_api.auth.roles import COHOSTS, VIEWERS
from onair_api.errors import Code
from onair_api.live.room.service import Rooms
from onair_api.operation import Operation

PATH = "/live/v2/collection/{collectionId}/project/{projectId}/webrtc"

ROOMS = (
    Operation(
        name="StartProjectWebRtc",
        method="PUT",
        path=PATH + "/start",
        alternate_method="POST",
        access=ByAccessToken(COHOSTS),
        service=Rooms,
        serve=Rooms.start,
        tag="webrtc",
        summary="Open a project's WebRTC room",
        description="FAILED_PRECONDITION: this version has no room server.",
        response="Empty",
        more_errors=(Code.INVALID_ARGUMENT,),
    ),
    Operation(
        name="StopProjectWebRtc",
        method="PUT",
        path=PATH + "/stop",
        alternate_method="POST",
        access=ByAccessToken(COHOSTS),
        service=Rooms,
        serve=Rooms.stop,
        tag="webrtc",
        summary="Close a project's WebRTC room",
        description="FAILED_PRECONDITION: this version has no room server.",
        response="Empty",
        more_errors=(Code.INVALID_ARGUMENT,),
    ),
    Operation(
        name="CreateWebRtcAccessToken",
        method="POST",
        path=PATH + "/token",
        access=ByAccessToken(VIEWERS),
        service=Rooms,
        serve=Rooms.create_access_token,
        tag="webrtc",
        summary="Issue a token for a project's WebRTC room",
        description="FAILED_PRECONDITION: this version has no room server.",
        request="CreateWebRtcAccessTokenRequest",
        response="CreateWebRtcAccessTokenResponse",
    ),
)
