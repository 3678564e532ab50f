"""The operations on layouts."""

from __future__ import annotations

from onair_api.auth.callers import ByAccessToken
from onair_api.auth.roles import CONTRIBUTORS, RENDERERS
from onair_api.errors import Code
from onair_api.layout.service import Layouts
from onair_api.operation import Filter, Operation
from onair_api.wire.schema import STRING, enumeration
from onair_crds.resources.enums import LayoutType

PATH = "/layout/v2/layouts"

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
        method="GET",
        path=PATH,
        access=ByAccessToken(RENDERERS),
        service=Layouts,
        serve=Layouts.list_layouts,
        tag="layouts",
        summary="List layouts",
        description="All that the caller may see, oldest first, without their layers.",
        query=(
            Filter("projectId", STRING),
            Filter("collectionId", STRING),
            Filter("type", enumeration(LayoutType)),
        ),
        response="Layouts",
        response_example=[EXAMPLE],
    ),
    Operation(
        name="CreateLayout",
        method="POST",
        path=PATH,
        access=ByAccessToken(CONTRIBUTORS),
        service=Layouts,
        serve=Layouts.create,
        tag="layouts",
        summary="Create a layout",
        description="A scene begins with one layer of type `root`; a sceneless layout with none.",
        request="CreateLayoutRequest",
        example={"projectId": EXAMPLE["projectId"], "type": "LAYOUT_TYPE_SCENE"},
        response="Layout",
        response_example=EXAMPLE,
        more_errors=(Code.NOT_FOUND,),
    ),
    Operation(
        name="GetLayout",
        method="GET",
        path=PATH + "/{layoutId}",
        access=ByAccessToken(RENDERERS),
        service=Layouts,
        serve=Layouts.get,
        tag="layouts",
        summary="Read a layout",
        description="Without its layers.",
        response="Layout",
        response_example=EXAMPLE,
    ),
    Operation(
        name="UpdateLayout",
        method="PATCH",
        path=PATH + "/{layoutId}",
        access=ByAccessToken(CONTRIBUTORS),
        service=Layouts,
        serve=Layouts.update,
        tag="layouts",
        summary="Change a layout",
        description="Changes the fields that are sent; type, project and collection stay what they are.",
        request="UpdateLayoutRequest",
        example={"metadata": {"name": "Interview"}},
        response="Layout",
        response_example=EXAMPLE,
        contended=True,
    ),
    Operation(
        name="DeleteLayout",
        method="DELETE",
        path=PATH + "/{layoutId}",
        access=ByAccessToken(CONTRIBUTORS),
        service=Layouts,
        serve=Layouts.delete,
        tag="layouts",
        summary="Delete a layout",
        description="Takes its layers too. The body is optional.",
        request="DeleteLayoutRequest",
        response="DeleteLayoutResponse",
        response_example={"id": EXAMPLE["id"]},
        contended=True,
    ),
)
