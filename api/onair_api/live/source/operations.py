"""The operations on live sources."""

from __future__ import annotations

from onair_api.auth.callers import ByAccessToken
from onair_api.auth.roles import IMPERSONATORS, OWNERS
from onair_api.live.source.hls import HlsPreviews
from onair_api.live.source.service import Sources
from onair_api.operation import PAGE, Docs, Errors, Flag, Http, Messages, Operation, Rpc, ServiceMethod

PATH = "/live/v2/collection/{collectionId}/source"
SERVICE = "live.v21.SourceService"

SOURCES = (
    Operation(
        name="GetSources",
        http=Http("GET", PATH),
        rpc=Rpc(SERVICE),
        access=ByAccessToken(OWNERS),
        service=ServiceMethod(Sources, Sources.list_sources),
        messages=Messages(None, "GetSourcesResponse", query=PAGE),
        docs=Docs("sources", "List a collection's live sources", "Oldest first."),
    ),
    Operation(
        name="CreateSource",
        http=Http("POST", PATH),
        rpc=Rpc(SERVICE),
        access=ByAccessToken(OWNERS - IMPERSONATORS),
        service=ServiceMethod(Sources, Sources.create),
        messages=Messages(
            "CreateSourceRequest",
            "SourceResponse",
            example={"metadata": {"name": "Camera 1"}, "address": {"rtmpPush": {"enabled": True}}},
        ),
        docs=Docs(
            "sources",
            "Create a live source",
            "Needs the scope SCOPE_VAPI_CREATE. The address to push to is assigned, and is in the response.",
        ),
    ),
    Operation(
        name="GetSource",
        http=Http("GET", PATH + "/{sourceId}"),
        rpc=Rpc(SERVICE),
        access=ByAccessToken(OWNERS),
        service=ServiceMethod(Sources, Sources.get),
        messages=Messages(None, "SourceResponse"),
        docs=Docs(
            "sources",
            "Read a live source",
            "Stream key, stream id and url are shown only to hosts and co-hosts.",
        ),
    ),
    Operation(
        name="GetSourceHlsPreview",
        http=Http("GET", PATH + "/{sourceId}/preview/hls"),
        rpc=Rpc(SERVICE),
        access=ByAccessToken(OWNERS),
        service=ServiceMethod(HlsPreviews, HlsPreviews.get),
        messages=Messages(None, "HlsPreview"),
        docs=Docs(
            "sources",
            "Where a live source can be watched by HLS",
            "The url has its own token: a player must start within five minutes, and can play until the "
            "access token ends. While the source is not connected the response is NOT_FOUND.",
        ),
    ),
    Operation(
        name="UpdateSource",
        http=Http("PATCH", PATH + "/{sourceId}"),
        rpc=Rpc(SERVICE),
        access=ByAccessToken(OWNERS),
        service=ServiceMethod(Sources, Sources.update),
        messages=Messages(
            "UpdateSourceRequest",
            "UpdateSourceResponse",
            example={"updateMask": "address.rtmpPush.enabled", "address": {"rtmpPush": {"enabled": False}}},
        ),
        docs=Docs(
            "sources",
            "Change a live source",
            "Only the fields that `updateMask` names. The stream key stays the same, even from RTMP to SRT.",
        ),
        errors=Errors(contended=True),
    ),
    Operation(
        name="DeleteSource",
        http=Http("DELETE", PATH + "/{sourceId}"),
        rpc=Rpc(SERVICE),
        access=ByAccessToken(OWNERS),
        service=ServiceMethod(Sources, Sources.delete),
        messages=Messages(
            None,
            "DeleteSourceResponse",
            query=(Flag("force", "Even if it is in use in a running broadcast."),),
        ),
        docs=Docs(
            "sources",
            "Delete a live source",
            "Removes it from its projects; FAILED_PRECONDITION while one of them broadcasts, unless forced.",
        ),
        errors=Errors(contended=True),
    ),
)
