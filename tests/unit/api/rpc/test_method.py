"""One operation over RPC: ids and fields as services take them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.support.rpc import json_of

from onair_api.auth.callers import ByAnybody, Callers, CallHeaders
from onair_api.errors import InvalidArgument
from onair_api.operation import (
    PAGE,
    Docs,
    Filter,
    Http,
    Ids,
    Messages,
    Operation,
    ResponseKind,
    Rpc,
    ServiceMethod,
)
from onair_api.rpc.message_forms import JsonForm, Unparsed
from onair_api.rpc.method import Method
from onair_api.settings import LimitSettings
from onair_crds.shapes import JsonObject


class RecordingLayouts:
    """Keeps what it was asked; answers the same always."""

    def __init__(self, response: Any) -> None:
        self.response = response
        self.asked: list[tuple[Ids, JsonObject]] = []

    async def serve(self, caller: None, ids: Ids, message: JsonObject) -> Any:
        self.asked.append((ids, message))
        return self.response


def method(
    service: RecordingLayouts, name: str, path: str, rpc: Rpc, kind: ResponseKind, *query: Filter
) -> Method:
    operation = Operation(
        name=name,
        http=Http("GET", path, response=kind),
        rpc=rpc,
        access=ByAnybody(),
        messages=Messages(None, "Empty", query=query),
        docs=Docs("layouts", "", ""),
        service=ServiceMethod(RecordingLayouts, RecordingLayouts.serve),
    )
    callers = Callers(None, None, None)  # type: ignore[arg-type]
    return Method(operation, service, callers, LimitSettings(), {})


async def called(tried: Method, request: JsonObject) -> tuple[JsonObject, dict[str, str]]:
    added: dict[str, str] = {}
    response = await tried(CallHeaders(), Unparsed(json.dumps(request).encode(), JsonForm()), added)
    return json_of(response), added


LAYERS = "apis.layout.v2.LayerService"
LAYOUTS = "apis.layout.v2.LayoutService"


async def test_the_message_is_in_the_field_that_the_row_names() -> None:
    service = RecordingLayouts({"id": "a", "x": None, "rotation": 1.5})
    update = method(
        service, "UpdateLayer", "/{layoutId}/{layerId}", Rpc(LAYERS, body="layer"), ResponseKind.MESSAGE
    )
    answer, _ = await called(
        update, {"layoutId": "l", "layer_id": "a", "layer": {"x": None, "parent_id": "p"}}
    )
    assert service.asked == [({"layoutId": "l", "layerId": "a"}, {"x": None, "parentId": "p"})]
    assert (answer["id"], answer["x"], answer["rotation"]) == ("a", None, 1.5)
    await called(update, {"layoutId": "l", "layerId": "a"})
    assert service.asked[1][1] == {}
    with pytest.raises(InvalidArgument, match="layer: must be an object"):
        await called(update, {"layoutId": "l", "layerId": "a", "layer": [1]})


async def test_a_list_has_its_items_and_its_next_page() -> None:
    service = RecordingLayouts({"items": [{"id": "a", "type": "LAYOUT_TYPE_SCENE"}], "nextPageToken": "n"})
    listing = method(service, "ListLayouts", "/", Rpc(LAYOUTS, items="layouts"), ResponseKind.LIST, *PAGE)
    answer, _ = await called(listing, {"page_size": 5, "pageToken": "t"})
    assert service.asked == [({}, {"pageSize": 5, "pageToken": "t"})]
    assert (answer["layouts"][0]["type"], answer["nextPageToken"]) == ("LAYOUT_TYPE_SCENE", "n")


@pytest.mark.parametrize(
    ("request_", "field"),
    [
        ({"pageSize": {}}, "pageSize"),
        ({"pageSize": True}, "pageSize"),
        ({"pageToken": 5}, "pageToken"),
        ({"pageToken": []}, "pageToken"),
    ],
)
async def test_a_filter_has_its_type(request_: JsonObject, field: str) -> None:
    listing = method(
        RecordingLayouts({"items": []}),
        "ListLayouts",
        "/",
        Rpc(LAYOUTS, items="layouts"),
        ResponseKind.LIST,
        *PAGE,
    )
    with pytest.raises(InvalidArgument, match=f"{field}: must be of type"):
        await called(listing, request_)


async def test_tokens_and_redirects_are_headers() -> None:
    refresh = Rpc("live.v21.AuthenticationService")
    token = method(
        RecordingLayouts({"accessToken": "t"}), "RefreshAccessToken", "/", refresh, ResponseKind.TOKEN
    )
    assert await called(token, {}) == ({}, {"authorization": "Bearer t"})
    public = Rpc("live.v21.PublicAuthenticationService")
    there = method(
        RecordingLayouts({"location": "https://a/"}),
        "GuestCodeRedirect",
        "/{code}",
        public,
        ResponseKind.REDIRECT,
    )
    assert await called(there, {"code": "c"}) == ({}, {"location": "https://a/", "cache-control": "no-store"})


async def test_a_response_that_is_json_already_is_read() -> None:
    event = Rpc("apis.event.v2.EventService", method="Publish")
    publish = method(
        RecordingLayouts(b'{"id":"e","payload":{"a":1}}'), "PublishEvent", "/", event, ResponseKind.MESSAGE
    )
    assert (await called(publish, {"name": "x"}))[0] == {"id": "e", "payload": {"a": 1}}
