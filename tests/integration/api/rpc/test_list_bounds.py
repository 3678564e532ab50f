"""A list that is too long is refused in the same words by both doors, in either form of messages."""

from __future__ import annotations

import json
from typing import Any

import pytest
from google.protobuf import json_format
from tests.support.facade import Show
from tests.support.layouts import scene
from tests.support.rpc import Reply, frame, reply_of, url_of

from onair_api.rpc.descriptors import messages_of
from onair_crds.shapes import JsonObject

MANY = 2_000
LAYERS, LAYOUTS = "apis.layout.v2.LayerService", "apis.layout.v2.LayoutService"
ANIMATION = {"properties": ["x"], "durationMs": 1}


def replies(show: Show, service: str, method: str, message: JsonObject) -> list[Reply]:
    """In both forms."""
    kind = messages_of(service, method).request
    forms = {
        "proto": json_format.ParseDict(message, kind()).SerializeToString(),
        "json": json.dumps(message).encode(),
    }
    return [
        reply_of(
            show.user.facade.http.post(
                url_of(service, method),
                content=frame(data),
                headers={**show.user.headers, "content-type": f"application/grpc-web+{form}"},
            )
        )
        for form, data in forms.items()
    ]


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ({"layers": [{}] * MANY}, "layers: must have at most 1000 items"),
        (
            {"layers": [{"create": {"type": "text", "requestAnimation": [ANIMATION] * MANY}}]},
            "layers[0].create.requestAnimation: must have at most 64 items",
        ),
        (
            {"layers": [{"create": {"type": "text", "children": ["a"] * MANY}}]},
            "layers[0].create.children: must have at most 500 items",
        ),
    ],
)
def test_of_a_batch(show: Show, body: JsonObject, says: str) -> None:
    layout = scene(show)
    over_http = layout.call("POST", "/layers/batch", body)
    assert (over_http.status_code, over_http.json()["code"]) == (400, 3)
    assert says in over_http.json()["message"]
    for reply in replies(show, LAYERS, "Batch", {"layoutId": layout.id, **body}):
        assert (reply.status, reply.text) == (3, over_http.json()["message"])


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ({"transitions": [{"cut": {}}] * MANY}, "transitions: must have at most 64 items"),
        (
            {"transitions": [{"cut": {}, "fromLayoutIds": ["a"] * MANY}]},
            "transitions[0].fromLayoutIds: must have at most 64 items",
        ),
    ],
)
def test_of_a_layout(show: Show, body: JsonObject, says: str) -> None:
    layout = scene(show)
    over_http: Any = layout.call("PATCH", "", body)
    assert (over_http.status_code, over_http.json()["code"]) == (400, 3)
    assert says in over_http.json()["message"]
    for reply in replies(show, LAYOUTS, "UpdateLayout", {"layoutId": layout.id, "layout": body}):
        assert (reply.status, reply.text) == (3, over_http.json()["message"])
