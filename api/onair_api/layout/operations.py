"""The operations on layouts."""

from __future__ import annotations

from onair_api.auth.callers import ByAccessToken
from onair_api.auth.roles import CONTRIBUTORS, RENDERERS
from onair_api.errors import Code
from onair_api.layout.service import Layouts
from onair_api.operation import (
    PAGE,
    Docs,
    Errors,
    Filter,
    Http,
    Messages,
    Operation,
    ResponseKind,
    Rpc,
    ServiceMethod,
)
from onair_api.wire.schema import STRING, enumeration
from onair_crds.resources.enums import LayoutType

PATH = "/layout/v2/layouts"
SERVICE = "apis.layout.v2.LayoutService"

EXAMPLE = {
    "id": "0b7c2a52-5a3e-4f0e-9a53-8d3c1c5f8f10",
    "projectId": "p1n8b4c7x0z3m6q9w2er",
    "collectionId": "c5t8y1u4i7o0p3a6s9df",
    "type": "LAYOUT_TYPE_SCENE",
    "width": 1280,
    "height": 720,
    "metadata": {"name": "Interview"},
    "transitions": [{"fromLayoutIds": [], "crossfade": {"durationMs": 500}}],
}

LAYOUTS = (
    Operation(
        name="ListLayouts",
        http=Http("GET", PATH, response=ResponseKind.LIST),
        rpc=Rpc(SERVICE, items="layouts"),
        access=ByAccessToken(RENDERERS),
        service=ServiceMethod(Layouts, Layouts.list_layouts),
        messages=Messages(
            None,
            "v2Layouts",
            query=(
                Filter("projectId", STRING),
                Filter("collectionId", STRING),
                Filter("type", enumeration(LayoutType)),
                *PAGE,
            ),
            response_example=[EXAMPLE],
        ),
        docs=Docs(
            "layouts",
            "List layouts",
            "All layouts that the caller may see, oldest first, without their layers.",
        ),
    ),
    Operation(
        name="CreateLayout",
        http=Http("POST", PATH),
        rpc=Rpc(SERVICE, body="layout"),
        access=ByAccessToken(CONTRIBUTORS),
        service=ServiceMethod(Layouts, Layouts.create),
        messages=Messages(
            "CreateLayoutRequest",
            "v2Layout",
            example={"projectId": EXAMPLE["projectId"], "type": "LAYOUT_TYPE_SCENE"},
            response_example=EXAMPLE,
        ),
        docs=Docs(
            "layouts",
            "Create a layout",
            "A scene is created with one layer of type `root`, a sceneless layout without layers.",
        ),
        errors=Errors(more=(Code.NOT_FOUND,)),
    ),
    Operation(
        name="GetLayout",
        http=Http("GET", PATH + "/{layoutId}"),
        rpc=Rpc(SERVICE),
        access=ByAccessToken(RENDERERS),
        service=ServiceMethod(Layouts, Layouts.get),
        messages=Messages(None, "v2Layout", response_example=EXAMPLE),
        docs=Docs("layouts", "Read a layout", "Without its layers."),
    ),
    Operation(
        name="UpdateLayout",
        http=Http("PATCH", PATH + "/{layoutId}"),
        rpc=Rpc(SERVICE, body="layout"),
        access=ByAccessToken(CONTRIBUTORS),
        service=ServiceMethod(Layouts, Layouts.update),
        messages=Messages(
            "UpdateLayoutRequest",
            "v2Layout",
            example={"metadata": {"name": "Interview"}},
            response_example=EXAMPLE,
        ),
        docs=Docs(
            "layouts",
            "Change a layout",
            "Changes the fields that are sent; type, project and collection cannot be changed.",
        ),
        errors=Errors(contended=True),
    ),
    Operation(
        name="DeleteLayout",
        http=Http("DELETE", PATH + "/{layoutId}"),
        rpc=Rpc(SERVICE, body="payload"),
        access=ByAccessToken(CONTRIBUTORS),
        service=ServiceMethod(Layouts, Layouts.delete),
        messages=Messages(
            "DeleteLayoutRequest", "DeleteLayoutResponse", response_example={"id": EXAMPLE["id"]}
        ),
        docs=Docs("layouts", "Delete a layout", "Deletes its layers too. The body is optional."),
        errors=Errors(contended=True),
    ),
)
