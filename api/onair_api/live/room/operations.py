"""The operations on hosted WebRTC rooms."""

from __future__ import annotations

from onair_api.auth.callers import ByAccessToken
from onair_api.auth.roles import COHOSTS, VIEWERS
from onair_api.errors import Code
from onair_api.live.room.service import Rooms
from onair_api.operation import Docs, Errors, Http, Messages, Operation, ServiceMethod

PATH = "/live/v2/collection/{collectionId}/project/{projectId}/webrtc"

ROOMS = (
    Operation(
        name="StartProjectWebRtc",
        http=Http("PUT", PATH + "/start", alternate_method="POST"),
        access=ByAccessToken(COHOSTS),
        service=ServiceMethod(Rooms, Rooms.start),
        messages=Messages(None, "Empty"),
        docs=Docs(
            "webrtc", "Open a project's WebRTC room", "FAILED_PRECONDITION: this version has no room server."
        ),
        errors=Errors(more=(Code.INVALID_ARGUMENT,)),
    ),
    Operation(
        name="StopProjectWebRtc",
        http=Http("PUT", PATH + "/stop", alternate_method="POST"),
        access=ByAccessToken(COHOSTS),
        service=ServiceMethod(Rooms, Rooms.stop),
        messages=Messages(None, "Empty"),
        docs=Docs(
            "webrtc", "Close a project's WebRTC room", "FAILED_PRECONDITION: this version has no room server."
        ),
        errors=Errors(more=(Code.INVALID_ARGUMENT,)),
    ),
    Operation(
        name="CreateWebRtcAccessToken",
        http=Http("POST", PATH + "/token"),
        access=ByAccessToken(VIEWERS),
        service=ServiceMethod(Rooms, Rooms.create_access_token),
        messages=Messages("CreateWebRtcAccessTokenRequest", "CreateWebRtcAccessTokenResponse"),
        docs=Docs(
            "webrtc",
            "Issue a token for a project's WebRTC room",
            "FAILED_PRECONDITION: this version has no room server.",
        ),
    ),
)
