"""HTTP operations of layers."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from onair_api.auth.caller import caller_of
from onair_api.auth.roles import Operation
from onair_api.http.body import read_object
from onair_api.http.documented import operation
from onair_api.http.responses import Json
from onair_api.services import services_of

router = APIRouter(prefix="/layout/v2/layouts/{layoutId}/layers", tags=["layers"])

LAYOUT = ("layoutId",)
IDS = (*LAYOUT, "layerId")
LAYER = {
    "id": "l2m5n8b1v4c7x0z3a6sd",
    "layoutId": "0b7c2a52-5a3e-4f0e-9a53-8d3c1c5f8f10",
    "x": 40,
    "y": 40,
    "width": None,
    "height": None,
    "type": "text",
    "data": {"text": "Good evening"},
    "rotation": 0,
    "opacity": 1,
    "scale": 1,
    "hidden": False,
    "children": [],
    "metadata": {},
    "requestAnimation": [],
}


@router.get(
    "",
    **operation(Operation.LIST_LAYERS, "List layers", path=LAYOUT, response="Layers", answer=[LAYER]),
)
async def list_layers(request: Request) -> Response:
    """All layers of a layout, detached ones with them, oldest first."""
    caller = await caller_of(request, Operation.LIST_LAYERS)
    return Json(await services_of(request).layers.list(caller, request.path_params["layoutId"]))


@router.post(
    "",
    **operation(
        Operation.CREATE_LAYER,
        "Create a layer",
        path=LAYOUT,
        request="CreateLayerRequest",
        response="Layer",
        contended=True,
        example={"type": "text", "data": {"text": "Good evening"}, "x": 40, "y": 40},
        answer=LAYER,
    ),
)
async def create_layer(request: Request) -> Response:
    """Without `parentId` it is detached: kept and listed, not drawn."""
    caller = await caller_of(request, Operation.CREATE_LAYER)
    services = services_of(request)
    body = await read_object(request, services.settings.limits)
    return Json(await services.layers.create(caller, request.path_params["layoutId"], body))


@router.post(
    "/batch",
    **operation(
        Operation.BATCH,
        "Change many layers at once",
        path=LAYOUT,
        request="BatchRequest",
        response="BatchResponse",
        contended=True,
        example={"layers": [{"create": {"type": "text", "data": {"text": "Good evening"}}}]},
    ),
)
async def batch(request: Request) -> Response:
    """All of it applies or none. `children` and `parentId` may name a layer that the same batch created
    earlier as `index:N`, N being its position in `layers`."""
    caller = await caller_of(request, Operation.BATCH)
    services = services_of(request)
    body = await read_object(request, services.settings.limits)
    return Json(await services.layers.batch(caller, request.path_params["layoutId"], body))


@router.get(
    "/{layerId}",
    **operation(Operation.GET_LAYER, "Read a layer", path=IDS, response="Layer", answer=LAYER),
)
async def get_layer(request: Request) -> Response:
    """x, y, width and height are null where the layer has no absolute position or size."""
    caller = await caller_of(request, Operation.GET_LAYER)
    ids = request.path_params
    return Json(await services_of(request).layers.get(caller, ids["layoutId"], ids["layerId"]))


@router.patch(
    "/{layerId}",
    **operation(
        Operation.UPDATE_LAYER,
        "Change a layer",
        path=IDS,
        request="UpdateLayerRequest",
        response="Layer",
        contended=True,
        example={"x": 40, "y": 40, "requestAnimation": [{"properties": ["x", "y"], "durationMs": 300}]},
        answer=LAYER,
    ),
)
async def update_layer(request: Request) -> Response:
    """Changes the fields that are sent; `data` and `metadata` are replaced whole."""
    caller = await caller_of(request, Operation.UPDATE_LAYER)
    services = services_of(request)
    body = await read_object(request, services.settings.limits)
    ids = request.path_params
    return Json(await services.layers.update(caller, ids["layoutId"], ids["layerId"], body))


@router.delete(
    "/{layerId}",
    **operation(
        Operation.DELETE_LAYER,
        "Delete a layer",
        path=IDS,
        request="DeleteLayerRequest",
        response="DeleteLayerResponse",
        contended=True,
        answer={"id": LAYER["id"], "layoutId": LAYER["layoutId"]},
    ),
)
async def delete_layer(request: Request) -> Response:
    """Takes its descendants too. The body is optional."""
    caller = await caller_of(request, Operation.DELETE_LAYER)
    services = services_of(request)
    body = await read_object(request, services.settings.limits)
    ids = request.path_params
    return Json(await services.layers.delete(caller, ids["layoutId"], ids["layerId"], body))
