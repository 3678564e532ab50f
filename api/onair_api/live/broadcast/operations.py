"""The operations on broadcasts."""

from __future__ import annotations

from onair_api.auth.callers import ByAccessToken
from onair_api.auth.roles import COHOSTS, CONTRIBUTORS, VIEWERS
from onair_api.live.broadcast.service import Broadcasts
from onair_api.operation import (
    Docs,
    Errors,
    Filter,
    Flag,
    Http,
    Messages,
    Operation,
    ResponseKind,
    Rpc,
    ServiceMethod,
)
from onair_api.wire.schema import enumeration
from onair_crds.resources.enums import ImageFormat

PATH = "/live/v2/collection/{collectionId}/project/{projectId}/broadcast"
SERVICE = "live.v21.ProjectService"
OPENS_ROOM = "Also open the project's WebRTC room, if it has one."
CLOSES_ROOM = "Also close the project's WebRTC room, if it has one."

BROADCASTS = (
    Operation(
        name="StartProjectBroadcast",
        http=Http("POST", PATH + "/start", alternate_method="PUT"),
        rpc=Rpc(SERVICE),
        access=ByAccessToken(COHOSTS),
        service=ServiceMethod(Broadcasts, Broadcasts.start),
        messages=Messages(None, "StartBroadcastResponse", query=(Flag("webrtcStart", OPENS_ROOM),)),
        docs=Docs(
            "broadcasts",
            "Put a project on air",
            "Returns the id of the broadcast; if the project is on air already, that of the present one.",
        ),
        errors=Errors(contended=True),
    ),
    Operation(
        name="StopProjectBroadcast",
        http=Http("POST", PATH + "/stop", alternate_method="PUT"),
        rpc=Rpc(SERVICE),
        access=ByAccessToken(COHOSTS),
        service=ServiceMethod(Broadcasts, Broadcasts.stop),
        messages=Messages(None, "Empty", query=(Flag("webrtcStop", CLOSES_ROOM),)),
        docs=Docs("broadcasts", "Take a project off air", "Succeeds if nothing is on air."),
        errors=Errors(contended=True),
    ),
    Operation(
        name="GetProjectBroadcastStatus",
        http=Http("GET", PATH + "/status"),
        rpc=Rpc(SERVICE),
        access=ByAccessToken(VIEWERS),
        service=ServiceMethod(Broadcasts, Broadcasts.status),
        messages=Messages(None, "BroadcastStatusResponse"),
        docs=Docs(
            "broadcasts",
            "Read the status of a project's broadcast",
            "PROJECT_BROADCAST_PHASE_NOT_RUNNING before any broadcast; afterwards the present or last run.",
        ),
    ),
    Operation(
        name="GetProjectBroadcastSnapshot",
        http=Http("GET", PATH + "/snapshot", response=ResponseKind.IMAGE),
        rpc=Rpc(SERVICE),
        access=ByAccessToken(CONTRIBUTORS),
        service=ServiceMethod(Broadcasts, Broadcasts.snapshot),
        messages=Messages(None, "SnapshotResponse", query=(Filter("format", enumeration(ImageFormat)),)),
        docs=Docs(
            "broadcasts",
            "Take a snapshot of a running broadcast",
            "A JPEG, at most one key-frame interval old; with `Accept: application/json`, in a "
            "JSON object. FAILED_PRECONDITION if no broadcast runs.",
        ),
    ),
)
