"""Batches of layers: whole or not at all."""

from __future__ import annotations

from typing import Any

import pytest
from tests.support.facade import StoredResources
from tests.support.layouts import LayoutClient
from tests.support.tokens import assert_error, violations_of

# batches


def test_a_batch_builds_a_tree_in_one_write(canvas: LayoutClient, resources: StoredResources) -> None:
    root = canvas.root()
    old = canvas.add("image", parentId=root)["id"]
    version = resources.get("layouts", canvas.id)["metadata"]["generation"]
    animation = {"properties": ["opacity"], "durationMs": 100, "delayMs": 0, "easingMode": "ease"}
    response = canvas.batch(
        {"create": {"type": "square", "metadata": {"n": 0}, "requestAnimation": []}},
        {"create": {"type": "text", "parentId": "index:0", "requestMetadata": {"item": 1}}},
        {"delete": {"id": old, "requestMetadata": {"item": 2}}},
        {"update": {"id": root, "children": ["index:0"], "requestAnimation": [animation]}},
        {"delete": {"id": old}},
        requestMetadata={"whole": True},
        requestAnimationMode="REQUEST_ANIMATION_MODE_SERIES",
    )
    items = response.pop("layers")
    assert response == {
        "layoutId": canvas.id,
        "requestMetadata": {"whole": True},
        "requestAnimationMode": "REQUEST_ANIMATION_MODE_SERIES",
    }
    box, text, updated = items[0]["create"], items[1]["create"], items[3]["update"]
    assert box["children"] == [text["id"]], "records are those at the end of the batch"
    assert box["parentId"] == root
    assert text["parentId"] == box["id"]
    assert text["requestMetadata"] == {"item": 1}
    assert items[2] == {"delete": {"id": old, "layoutId": canvas.id, "requestMetadata": {"item": 2}}}
    assert items[4] == {"delete": {"id": old, "layoutId": canvas.id}}
    assert updated["children"] == [box["id"]]
    assert updated["requestAnimation"] == [animation]
    assert [each["id"] for each in canvas.layers()] == [root, box["id"], text["id"]]
    assert canvas.layer(box["id"]) == box
    assert resources.get("layouts", canvas.id)["metadata"]["generation"] == version + 1


@pytest.mark.parametrize(
    ("items", "status", "code", "says"),
    [
        ([{"update": {"id": "missing"}}], 404, 5, "layers[1].update.id: the layer does not exist"),
        ([{"delete": {"id": "missing"}}], 404, 5, "layers[1].delete.id: the layer does not exist"),
        ([{"delete": {"id": "ROOT"}}], 400, 9, "layers[1].delete: the root layer of a scene cannot"),
        (
            [{"update": {"id": "ROOT", "x": 10_001}}],
            400,
            3,
            "layers[1].update.x: must be from -10000 to 10000",
        ),
        ([{"create": {}}], 400, 3, "layers[1].create.type: is required"),
        ([{"update": {"x": 1}}], 400, 3, "layers[1].update.id: is required"),
        ([{"delete": {"id": 5}}], 400, 3, "layers[1].delete.id: must be a string"),
        ([{}], 400, 3, "layers[1]: exactly one of create, update, delete must be given"),
        ([7], 400, 3, "layers[1]: exactly one of create, update, delete must be given"),
        (
            [{"create": {"type": "a"}, "delete": {"id": "ROOT"}}],
            400,
            3,
            "layers[1]: exactly one of create, update, delete must be given",
        ),
        ([{"create": []}], 400, 3, "layers[1].create: must be an object"),
        (
            [{"create": {"type": "a", "parentId": "index:1"}}],
            400,
            3,
            "layers[1].create.parentId: must name a layer created earlier in the batch",
        ),
        (
            [{"update": {"id": "ROOT", "children": ["index:0", "index:2"]}}, {"create": {"type": "a"}}],
            400,
            3,
            "layers[1].update.children[1]: must name a layer created earlier in the batch",
        ),
        (
            [{"create": {"type": "a", "parentId": "elsewhere"}}],
            400,
            3,
            "layers[1].create.parentId: names no layer of this layout",
        ),
        (
            [{"create": {"type": "a", "requestAnimation": [{"properties": ["x"]}]}}],
            400,
            3,
            "layers[1].create.requestAnimation[0].durationMs: is required",
        ),
    ],
)
def test_a_batch_applies_whole_or_not_at_all(
    canvas: LayoutClient, items: list[Any], status: int, code: int, says: str
) -> None:
    root, before = canvas.root(), canvas.layers()
    written = [
        {key: {**body, "id": root} if isinstance(body, dict) and body.get("id") == "ROOT" else body}
        if isinstance(item, dict) and len(item) == 1
        else item
        for item in items
        for key, body in (item.items() if isinstance(item, dict) and len(item) == 1 else [("", None)])
    ]
    first = {"create": {"type": "text", "parentId": root}}
    response = canvas.call("POST", "/layers/batch", {"layers": [first, *written]})
    assert_error(response, status, code)
    assert says in response.json()["message"]
    assert canvas.layers() == before


def test_a_batch_is_bounded_and_may_be_empty(canvas: LayoutClient) -> None:
    empty = {"layers": [], "layoutId": canvas.id, "requestAnimationMode": "REQUEST_ANIMATION_MODE_PARALLEL"}
    assert canvas.batch() == empty
    assert canvas.user.ok("POST", f"{canvas.path}/layers/batch") == empty
    unspecified = {"requestAnimationMode": "REQUEST_ANIMATION_MODE_UNSPECIFIED"}
    assert canvas.batch(**unspecified) == empty
    for body, field in (
        ({"layers": {}}, "layers"),
        ({"layers": [{"delete": {"id": "a"}}] * 1001}, "layers"),
        ({"layers": [{"create": {"type": "a"}}] * 500}, "layers"),
        ({"layers": [{"update": {"id": canvas.root()}}] * 17}, "layers[16].update.id"),
        ({"requestAnimationMode": "SERIES"}, "requestAnimationMode"),
        ({"requestMetadata": 5}, "requestMetadata"),
    ):
        assert set(violations_of(canvas.call("POST", "/layers/batch", body))) == {field}
    assert len(canvas.layers()) == 1
