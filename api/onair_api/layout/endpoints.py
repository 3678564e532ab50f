"""HTTP operations of layouts."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from onair_api.auth.caller import caller_of
from onair_api.auth.roles import Operation
from onair_api.errors import Code
from onair_api.http.body import read_object
from onair_api.http.documented import operation
from onair_api.http.query import choice
from onair_api.http.responses import Json
from onair_api.services import services_of
from onair_crds.resources.enums import LayoutType

router = APIRouter(prefix="/layout/v2/layouts", tags=["layouts"])

ID = ("layoutId",)
LAYOUT = {
    "id": "0b7c2a52-5a3e-4f0e-9a53-8d3c1c5f8f10",
    "projectId": "p1n8b4c7x0z3m6q9w2er",
    "collectionId": "c5t8y1u4i7o0p3a6s9df",
    "type": "LAYOUT_TYPE_SCENE",
    "width": 1280,
    "height": 720,
    "metadata": {"name": "Interview"},
    "transitions": [{"fromLayoutIds": [], "crossfade": {"durationMs": 500}}],
}


@router.get(
    "",
    **operation(
        Operation.LIST_LAYOUTS,
        "List layouts",
        filters={
            "projectId": {"type": "string"},
            "collectionId": {"type": "string"},
            "type": {
                "type": "string",
                "enum": [LayoutType.unspecified(), *(member.wire for member in LayoutType)],
            },
        },
        response="Layouts",
        answer=[LAYOUT],
    ),
)
async def list_layouts(request: Request) -> Response:
    """All that the caller may see, oldest first, without their layers."""
    caller = await caller_of(request, Operation.LIST_LAYOUTS)
    query = request.query_params
    return Json(
        await services_of(request).layouts.list(
            caller,
            project_id=query.get("projectId"),
            collection_id=query.get("collectionId"),
            type_=choice(request, "type", LayoutType),
        )
    )


@router.post(
    "",
    **operation(
        Operation.CREATE_LAYOUT,
        "Create a layout",
        request="CreateLayoutRequest",
        response="Layout",
        example={"projectId": LAYOUT["projectId"], "type": "LAYOUT_TYPE_SCENE"},
        answer=LAYOUT,
        also=(Code.NOT_FOUND,),
    ),
)
async def create_layout(request: Request) -> Response:
    """A scene begins with one layer of type `root`; a sceneless layout with none."""
    caller = await caller_of(request, Operation.CREATE_LAYOUT)
    services = services_of(request)
    body = await read_object(request, services.settings.limits)
    return Json(await services.layouts.create(caller, body))


@router.get(
    "/{layoutId}",
    **operation(Operation.GET_LAYOUT, "Read a layout", path=ID, response="Layout", answer=LAYOUT),
)
async def get_layout(request: Request) -> Response:
    """Without its layers."""
    caller = await caller_of(request, Operation.GET_LAYOUT)
    return Json(await services_of(request).layouts.get(caller, request.path_params["layoutId"]))


@router.patch(
    "/{layoutId}",
    **operation(
        Operation.UPDATE_LAYOUT,
        "Change a layout",
        path=ID,
        request="UpdateLayoutRequest",
        response="Layout",
        contended=True,
        example={"metadata": {"name": "Interview"}},
        answer=LAYOUT,
    ),
)
async def update_layout(request: Request) -> Response:
    """Changes the fields that are sent; type, project and collection stay what they are."""
    caller = await caller_of(request, Operation.UPDATE_LAYOUT)
    services = services_of(request)
    body = await read_object(request, services.settings.limits)
    return Json(await services.layouts.update(caller, request.path_params["layoutId"], body))


@router.delete(
    "/{layoutId}",
    **operation(
        Operation.DELETE_LAYOUT,
        "Delete a layout",
        path=ID,
        request="DeleteLayoutRequest",
        response="DeleteLayoutResponse",
        contended=True,
        answer={"id": LAYOUT["id"]},
    ),
)
async def delete_layout(request: Request) -> Response:
    """Takes its layers too. The body is optional."""
    caller = await caller_of(request, Operation.DELETE_LAYOUT)
    services = services_of(request)
    body = await read_object(request, services.settings.limits)
    return Json(await services.layouts.delete(caller, request.path_params["layoutId"], body))
