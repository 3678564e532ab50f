"""The operations on hosted WebRTC rooms."""

from __future__ import annotations

from onair_api.auth.callers import ByAccessToken
from onair_api.auth.roles import COHOSTS, VIEWERS
from onair_api.errors import Code
from onair_api.live.room.service import Rooms
from onair_api.operation import Docs, Errors, Http, Messages, Operation, Rpc, ServiceMethod

PATH = "/live/v2/collection/{collectionId}/project/{projectId}/webrtc"
SERVICE = "live.v21.ProjectService"
AUTHENTICATION_SERVICE = "live.v21.AuthenticationService"

ROOMS = (
    Operation(
        name="StartProjectWebRtc",
        http=Http("PUT", PATH + "/start", alternate_method="POST"),
        rpc=Rpc(SERVICE),
        access=ByAccessToken(COHOSTS),
        service=ServiceMethod(Rooms, Rooms.start),
        messages=Messages(None, "Empty"),
        docs=Docs(
            "webrtc",
            "Open a project's WebRTC room",
            "Succeeds if it is open. FAILED_PRECONDITION if the project has no `webrtc.hosted`, or the "
            "installation has no room server.",
        ),
        errors=Errors(contended=True, more=(Code.INVALID_ARGUMENT,)),
    ),
    Operation(
        name="StopProjectWebRtc",
        http=Http("PUT", PATH + "/stop", alternate_method="POST"),
        rpc=Rpc(SERVICE),
        access=ByAccessToken(COHOSTS),
        service=ServiceMethod(Rooms, Rooms.stop),
        messages=Messages(None, "Empty"),
        docs=Docs(
            "webrtc",
            "Close a project's WebRTC room",
            "Disconnects everybody. Succeeds if it is closed. FAILED_PRECONDITION as for opening it.",
        ),
        errors=Errors(contended=True, more=(Code.INVALID_ARGUMENT,)),
    ),
    Operation(
        name="CreateWebRtcAccessToken",
        http=Http("POST", PATH + "/token"),
        rpc=Rpc(AUTHENTICATION_SERVICE),
        access=ByAccessToken(VIEWERS),
        service=ServiceMethod(Rooms, Rooms.create_access_token),
        messages=Messages("CreateWebRtcAccessTokenRequest", "CreateWebRtcAccessTokenResponse"),
        docs=Docs(
            "webrtc",
            "Issue a token for a project's WebRTC room",
            "For `/webrtc/v2`, the url that a client of LiveKit is given. Opens the room. It is to be used "
            "within a few minutes; the server renews it for those connected. PERMISSION_DENIED after a "
            "removal, until the room is opened again. FAILED_PRECONDITION as for its opening.",
        ),
        errors=Errors(contended=True),
    ),
)
