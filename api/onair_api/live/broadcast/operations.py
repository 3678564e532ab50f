"""The operations on broadcasts."""

from __future__ import annotations

from onair_api.auth.callers import ByAccessToken
from onair_api.auth.roles import COHOSTS, CONTRIBUTORS, VIEWERS
from onair_api.live.broadcast.service import Broadcasts
from onair_api.operation import Filter, Flag, Operation, ResponseKind
from onair_api.wire.schema import enumeration
from onair_crds.resources.enums import ImageFormat

PATH = "/live/v2/collection/{collectionId}/project/{projectId}/broadcast"
NO_ROOMS = "Accepted for clients that send it; this version has no WebRTC rooms."

BROADCASTS = (
    Operation(
        name="StartProjectBroadcast",
        method="POST",
        path=PATH + "/start",
        alternate_method="PUT",
        access=ByAccessToken(COHOSTS),
        service=Broadcasts,
        serve=Broadcasts.start,
        tag="broadcasts",
        summary="Put a project on air",
        description="Gives the id of the run; of the present one where the project is on air already.",
        query=(Flag("webrtcStart", NO_ROOMS),),
        response="StartBroadcastResponse",
        contended=True,
    ),
    Operation(
        name="StopProjectBroadcast",
        method="POST",
        path=PATH + "/stop",
        alternate_method="PUT",
        access=ByAccessToken(COHOSTS),
        service=Broadcasts,
        serve=Broadcasts.stop,
        tag="broadcasts",
        summary="Take a project off air",
        description="Succeeds where nothing is on air.",
        query=(Flag("webrtcStop", NO_ROOMS),),
        response="Empty",
        contended=True,
    ),
    Operation(
        name="GetProjectBroadcastStatus",
        method="GET",
        path=PATH + "/status",
        access=ByAccessToken(VIEWERS),
        service=Broadcasts,
        serve=Broadcasts.status,
        tag="broadcasts",
        summary="Read the status of a project's broadcast",
        description="PROJECT_BROADCAST_PHASE_NOT_RUNNING before any broadcast; afterwards the present "
        "or last run.",
        response="BroadcastStatusResponse",
    ),
    Operation(
        name="GetProjectBroadcastSnapshot",
        method="GET",
        path=PATH + "/snapshot",
        access=ByAccessToken(CONTRIBUTORS),
        service=Broadcasts,
        serve=Broadcasts.snapshot,
        tag="broadcasts",
        summary="Take a snapshot of a running broadcast",
        description="A JPEG, at most one key-frame interval old; with `Accept: application/json` within a "
        "record. FAILED_PRECONDITION where no broadcast runs.",
        query=(Filter("format", enumeration(ImageFormat)),),
        response="SnapshotResponse",
        response_kind=ResponseKind.IMAGE,
    ),
)
