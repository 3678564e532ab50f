"""HTTP operations of hosted WebRTC rooms."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from onair_api.auth.caller import caller_of
from onair_api.auth.roles import Operation
from onair_api.errors import Code
from onair_api.http.body import read_object
from onair_api.http.documented import operation
from onair_api.http.responses import Json
from onair_api.live.room.service import check_access_request
from onair_api.services import services_of

router = APIRouter(prefix="/live/v2/collection/{collectionId}/project/{projectId}/webrtc", tags=["webrtc"])

IDS = ("collectionId", "projectId")
START, STOP = (
    operation(name, summary, path=IDS, response="Empty", also=(Code.INVALID_ARGUMENT,))
    for name, summary in (
        (Operation.START_PROJECT_WEBRTC, "Open a project's WebRTC room"),
        (Operation.STOP_PROJECT_WEBRTC, "Close a project's WebRTC room"),
    )
)


@router.post("/start", **{**START, "operation_id": f"{Operation.START_PROJECT_WEBRTC}ByPost"})
@router.put("/start", **START)
async def start_webrtc(request: Request) -> Response:
    """FAILED_PRECONDITION: this version has no room server."""
    return await _refused(request, Operation.START_PROJECT_WEBRTC)


@router.post("/stop", **{**STOP, "operation_id": f"{Operation.STOP_PROJECT_WEBRTC}ByPost"})
@router.put("/stop", **STOP)
async def stop_webrtc(request: Request) -> Response:
    """FAILED_PRECONDITION: this version has no room server."""
    return await _refused(request, Operation.STOP_PROJECT_WEBRTC)


@router.post(
    "/token",
    **operation(
        Operation.CREATE_WEBRTC_ACCESS_TOKEN,
        "Issue a token for a project's WebRTC room",
        path=IDS,
        request="CreateWebRtcAccessTokenRequest",
        response="CreateWebRtcAccessTokenResponse",
    ),
)
async def create_webrtc_access_token(request: Request) -> Response:
    """FAILED_PRECONDITION: this version has no room server."""
    return await _refused(request, Operation.CREATE_WEBRTC_ACCESS_TOKEN, has_body=True)


async def _refused(request: Request, operation: Operation, *, has_body: bool = False) -> Response:
    caller = await caller_of(request, operation)
    services = services_of(request)
    if has_body:
        limits = services.settings.limits
        check_access_request(await read_object(request, limits), limits.metadata_bytes)
    ids = request.path_params
    await services.rooms.refuse(caller, ids["collectionId"], ids["projectId"])
    return Json({})
