"""The operations on layers."""

from __future__ import annotations

from onair_api.auth.callers import ByAccessToken
from onair_api.auth.roles import CONTRIBUTORS, RENDERERS
from onair_api.layout.layer.service import Layers
from onair_api.operation import (
    PAGE,
    Docs,
    Errors,
    Http,
    Messages,
    Operation,
    ResponseKind,
    Rpc,
    ServiceMethod,
)

PATH = "/layout/v2/layouts/{layoutId}/layers"
SERVICE = "apis.layout.v2.LayerService"

EXAMPLE = {
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

LAYERS = (
    Operation(
        name="ListLayers",
        http=Http("GET", PATH, response=ResponseKind.LIST),
        rpc=Rpc(SERVICE, items="layers"),
        access=ByAccessToken(RENDERERS),
        service=ServiceMethod(Layers, Layers.list_layers),
        messages=Messages(None, "v2Layers", query=PAGE, response_example=[EXAMPLE]),
        docs=Docs("layers", "List layers", "All layers of a layout, detached ones with them, oldest first."),
    ),
    Operation(
        name="CreateLayer",
        http=Http("POST", PATH),
        rpc=Rpc(SERVICE, body="layer"),
        access=ByAccessToken(CONTRIBUTORS),
        service=ServiceMethod(Layers, Layers.create),
        messages=Messages(
            "CreateLayerRequest",
            "v2Layer",
            example={"type": "text", "data": {"text": "Good evening"}, "x": 40, "y": 40},
            response_example=EXAMPLE,
        ),
        docs=Docs(
            "layers", "Create a layer", "Without `parentId` it is detached: kept and listed, not drawn."
        ),
        errors=Errors(contended=True),
    ),
    Operation(
        name="Batch",
        http=Http("POST", PATH + "/batch"),
        rpc=Rpc(SERVICE),
        access=ByAccessToken(CONTRIBUTORS),
        service=ServiceMethod(Layers, Layers.batch),
        messages=Messages(
            "BatchRequest",
            "BatchResponse",
            example={"layers": [{"create": {"type": "text", "data": {"text": "Good evening"}}}]},
        ),
        docs=Docs(
            "layers",
            "Change many layers at once",
            "All of it applies or none. `children` and `parentId` may name a layer that the same "
            "batch created earlier as `index:N`, N being its position in `layers`.",
        ),
        errors=Errors(contended=True),
    ),
    Operation(
        name="GetLayer",
        http=Http("GET", PATH + "/{layerId}"),
        rpc=Rpc(SERVICE),
        access=ByAccessToken(RENDERERS),
        service=ServiceMethod(Layers, Layers.get),
        messages=Messages(None, "v2Layer", response_example=EXAMPLE),
        docs=Docs(
            "layers",
            "Read a layer",
            "x, y, width and height are null where the layer has no absolute position or size.",
        ),
    ),
    Operation(
        name="UpdateLayer",
        http=Http("PATCH", PATH + "/{layerId}"),
        rpc=Rpc(SERVICE, body="layer"),
        access=ByAccessToken(CONTRIBUTORS),
        service=ServiceMethod(Layers, Layers.update),
        messages=Messages(
            "UpdateLayerRequest",
            "v2Layer",
            example={"x": 40, "y": 40, "requestAnimation": [{"properties": ["x", "y"], "durationMs": 300}]},
            response_example=EXAMPLE,
        ),
        docs=Docs(
            "layers",
            "Change a layer",
            "Changes the fields that are sent; `data` and `metadata` are replaced whole.",
        ),
        errors=Errors(contended=True),
    ),
    Operation(
        name="DeleteLayer",
        http=Http("DELETE", PATH + "/{layerId}"),
        rpc=Rpc(SERVICE, body="payload"),
        access=ByAccessToken(CONTRIBUTORS),
        service=ServiceMethod(Layers, Layers.delete),
        messages=Messages(
            "DeleteLayerRequest",
            "DeleteLayerResponse",
            response_example={"id": EXAMPLE["id"], "layoutId": EXAMPLE["layoutId"]},
        ),
        docs=Docs("layers", "Delete a layer", "Deletes its descendants too. The body is optional."),
        errors=Errors(contended=True),
    ),
)
