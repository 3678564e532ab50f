"""HTTP operations of destinations."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from onair_api.auth.caller import caller_of
from onair_api.auth.roles import Operation
from onair_api.http.body import read_object
from onair_api.http.documented import operation
from onair_api.http.query import flag
from onair_api.http.responses import Json
from onair_api.services import services_of

router = APIRouter(
    prefix="/live/v2/collection/{collectionId}/project/{projectId}/destination", tags=["destinations"]
)

PARENTS = ("collectionId", "projectId")
IDS = (*PARENTS, "destinationId")


@router.post(
    "",
    **operation(
        Operation.CREATE_DESTINATION,
        "Create a destination",
        path=PARENTS,
        request="CreateDestinationRequest",
        response="DestinationResponse",
        example={"address": {"rtmpPush": {"url": "rtmps://a.rtmp.example.org/live2", "key": "abcd-1234"}}},
    ),
)
async def create_destination(request: Request) -> Response:
    """Secrets of the address go into a Kubernetes Secret; only hosts and co-hosts can read them."""
    caller = await caller_of(request, Operation.CREATE_DESTINATION)
    services = services_of(request)
    body = await read_object(request, services.settings.limits)
    ids = request.path_params
    return Json(await services.destinations.create(caller, ids["collectionId"], ids["projectId"], body))


@router.get(
    "/{destinationId}",
    **operation(Operation.GET_DESTINATION, "Read a destination", path=IDS, response="DestinationResponse"),
)
async def get_destination(request: Request) -> Response:
    """Secrets are left out for everybody but hosts and co-hosts."""
    caller = await caller_of(request, Operation.GET_DESTINATION)
    ids = request.path_params
    return Json(
        await services_of(request).destinations.get(
            caller, ids["collectionId"], ids["projectId"], ids["destinationId"]
        )
    )


@router.patch(
    "/{destinationId}",
    **operation(
        Operation.UPDATE_DESTINATION,
        "Change a destination",
        path=IDS,
        request="UpdateDestinationRequest",
        response="UpdateDestinationResponse",
        contended=True,
        example={"updateMask": "enabled", "enabled": False},
    ),
)
async def update_destination(request: Request) -> Response:
    """A secret that the mask does not name stays; one that it names and the body omits is removed."""
    caller = await caller_of(request, Operation.UPDATE_DESTINATION)
    services = services_of(request)
    body = await read_object(request, services.settings.limits)
    ids = request.path_params
    return Json(
        await services.destinations.update(
            caller, ids["collectionId"], ids["projectId"], ids["destinationId"], body
        )
    )


@router.delete(
    "/{destinationId}",
    **operation(
        Operation.DELETE_DESTINATION,
        "Delete a destination",
        path=IDS,
        query={"force": "Delete it although it is enabled. Default false."},
        response="DeleteDestinationResponse",
        contended=True,
    ),
)
async def delete_destination(request: Request) -> Response:
    """FAILED_PRECONDITION while it is enabled, unless forced."""
    caller = await caller_of(request, Operation.DELETE_DESTINATION)
    ids = request.path_params
    force = flag(request, "force")
    return Json(
        await services_of(request).destinations.delete(
            caller, ids["collectionId"], ids["projectId"], ids["destinationId"], force=force
        )
    )
