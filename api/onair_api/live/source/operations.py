"""The operations on live sources."""

from __future__ import annotations

from onair_api.auth.callers import ByAccessToken
from onair_api.auth.roles import IMPERSONATORS, OWNERS
from onair_api.live.source.service import Sources
from onair_api.operation import Flag, Operation

PATH = "/live/v2/collection/{collectionId}/source"

SOURCES = (
    Operation(
        name="GetSources",
        method="GET",
        path=PATH,
        access=ByAccessToken(OWNERS),
        service=Sources,
        serve=Sources.list_sources,
        tag="sources",
        summary="List a collection's live sources",
        description="Oldest first.",
        response="GetSourcesResponse",
    ),
    Operation(
        name="CreateSource",
        method="POST",
        path=PATH,
        access=ByAccessToken(OWNERS - IMPERSONATORS),
        service=Sources,
        serve=Sources.create,
        tag="sources",
        summary="Create a live source",
        description="Needs the scope SCOPE_VAPI_CREATE. Where it is pushed to is assigned, and comes "
        "with the answer.",
        request="CreateSourceRequest",
        example={"metadata": {"name": "Camera 1"}, "address": {"rtmpPush": {"enabled": True}}},
        response="SourceResponse",
    ),
    Operation(
        name="GetSource",
        method="GET",
        path=PATH + "/{sourceId}",
        access=ByAccessToken(OWNERS),
        service=Sources,
        serve=Sources.get,
        tag="sources",
        summary="Read a live source",
        description="Stream key, stream id and url are shown to hosts alone.",
        response="SourceResponse",
    ),
    Operation(
        name="UpdateSource",
        method="PATCH",
        path=PATH + "/{sourceId}",
        access=ByAccessToken(OWNERS),
        service=Sources,
        serve=Sources.update,
        tag="sources",
        summary="Change a live source",
        description="Only the fields that `updateMask` names. The stream key stays, also from RTMP to SRT.",
        request="UpdateSourceRequest",
        example={"updateMask": "address.rtmpPush.enabled", "address": {"rtmpPush": {"enabled": False}}},
        response="UpdateSourceResponse",
        contended=True,
    ),
    Operation(
        name="DeleteSource",
        method="DELETE",
        path=PATH + "/{sourceId}",
        access=ByAccessToken(OWNERS),
        service=Sources,
        serve=Sources.delete,
        tag="sources",
        summary="Delete a live source",
        description="It leaves the projects that it is in; FAILED_PRECONDITION while one broadcasts, unless "
        "forced.",
        query=(Flag("force", "Even if it is in use in a running broadcast. Default false."),),
        response="DeleteSourceResponse",
        contended=True,
    ),
)
