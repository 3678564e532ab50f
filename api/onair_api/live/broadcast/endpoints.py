"""HTTP operations of broadcasts."""

from __future__ import annotations

import base64

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from onair_api.auth.caller import caller_of
from onair_api.auth.roles import Operation
from onair_api.errors import Code, InvalidArgument, Violation
from onair_api.http.documented import operation
from onair_api.http.query import flag
from onair_api.http.responses import Json
from onair_api.services import services_of
from onair_api.wire.schema import enumeration
from onair_crds.resources.enums import ImageFormat

router = APIRouter(
    prefix="/live/v2/collection/{collectionId}/project/{projectId}/broadcast", tags=["broadcasts"]
)

IDS = ("collectionId", "projectId")
NO_ROOMS = "Accepted for clients that send it; this version has no WebRTC rooms."

START = operation(
    Operation.START_PROJECT_BROADCAST,
    "Put a project on air",
    path=IDS,
    query={"webrtcStart": NO_ROOMS},
    response="StartBroadcastResponse",
    contended=True,
)
STOP = operation(
    Operation.STOP_PROJECT_BROADCAST,
    "Take a project off air",
    path=IDS,
    query={"webrtcStop": NO_ROOMS},
    response="Empty",
    contended=True,
)


@router.put("/start", **{**START, "operation_id": f"{Operation.START_PROJECT_BROADCAST}ByPut"})
@router.post("/start", **START)
async def start_broadcast(request: Request) -> Response:
    """Gives the id of the run; of the present one where the project is on air already."""
    caller = await caller_of(request, Operation.START_PROJECT_BROADCAST)
    flag(request, "webrtcStart")
    ids = request.path_params
    broadcasts = services_of(request).broadcasts
    return Json(await broadcasts.start(caller, ids["collectionId"], ids["projectId"]))


@router.put("/stop", **{**STOP, "operation_id": f"{Operation.STOP_PROJECT_BROADCAST}ByPut"})
@router.post("/stop", **STOP)
async def stop_broadcast(request: Request) -> Response:
    """Succeeds where nothing is on air."""
    caller = await caller_of(request, Operation.STOP_PROJECT_BROADCAST)
    flag(request, "webrtcStop")
    ids = request.path_params
    broadcasts = services_of(request).broadcasts
    return Json(await broadcasts.stop(caller, ids["collectionId"], ids["projectId"]))


@router.get(
    "/status",
    **operation(
        Operation.GET_PROJECT_BROADCAST_STATUS,
        "Read the status of a project's broadcast",
        path=IDS,
        response="BroadcastStatusResponse",
    ),
)
async def get_broadcast_status(request: Request) -> Response:
    """PROJECT_BROADCAST_PHASE_NOT_RUNNING before any broadcast; afterwards the present or last run."""
    caller = await caller_of(request, Operation.GET_PROJECT_BROADCAST_STATUS)
    ids = request.path_params
    broadcasts = services_of(request).broadcasts
    return Json(await broadcasts.status(caller, ids["collectionId"], ids["projectId"]))


SNAPSHOT = operation(
    Operation.GET_PROJECT_BROADCAST_SNAPSHOT,
    "Take a picture of a running broadcast",
    path=IDS,
    response="SnapshotResponse",
    also=(Code.INVALID_ARGUMENT,),
)
SNAPSHOT["openapi_extra"]["parameters"].append(
    {"name": "format", "in": "query", "schema": enumeration(ImageFormat)}
)
SNAPSHOT["responses"][200]["content"]["image/jpeg"] = {"schema": {"type": "string", "format": "binary"}}


@router.get("/snapshot", **SNAPSHOT)
async def get_broadcast_snapshot(request: Request) -> Response:
    """A JPEG, at most one key-frame interval old; with `Accept: application/json` within a record.

    FAILED_PRECONDITION where no broadcast runs.
    """
    caller = await caller_of(request, Operation.GET_PROJECT_BROADCAST_SNAPSHOT)
    try:
        ImageFormat.from_wire(request.query_params.get("format") or ImageFormat.unspecified())
    except ValueError as error:
        raise InvalidArgument(Violation("format", str(error))) from None
    ids = request.path_params
    picture = await services_of(request).broadcasts.snapshot(caller, ids["collectionId"], ids["projectId"])
    headers = {"Cache-Control": "no-store"}
    if prefers_json(request.headers.get("accept", "")):
        record = {"format": ImageFormat.JPEG.wire, "image": base64.b64encode(picture).decode()}
        return Json(record, headers=headers)
    return Response(picture, media_type="image/jpeg", headers=headers)


def prefers_json(accept: str) -> bool:
    """Whether JSON is named and no picture is."""
    wanted = [each.partition(";")[0].strip().lower() for each in accept.split(",")]
    return "application/json" in wanted and not any(each.startswith("image/") for each in wanted)
