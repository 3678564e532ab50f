"""Changes of layers, read from events as the facade sends them."""

from __future__ import annotations

from typing import Any

import pytest
from tests.support.scenes import ROOT, layer, layout, scene

from onair_crds.contract.scene import Canvas, SceneLayer
from onair_crds.shapes import JsonObject
from onair_encoder.scene.layer_events import layers_event
from onair_encoder.scene.scene import LayersEvent, Scene

ANIMATION = [{"properties": ["x"], "durationMs": 300, "delayMs": 0, "easingMode": "linear"}]


def record(id: str, **fields: Any) -> JsonObject:
    nulls = dict.fromkeys(("x", "y", "width", "height"))
    made = {"id": id, "layoutId": "stage", "type": "square", "children": [], "requestAnimation": []}
    return {**made, **nulls, "data": {}, "requestMetadata": {}, **fields}


def event(version: int = 11, **change: JsonObject) -> JsonObject:
    return {"id": "e", "name": "n", "payload": {"layer": change}, "resourceVersion": str(version)}


def told(change: JsonObject) -> LayersEvent:
    found = layers_event(change)
    assert found
    return found


def test_an_update_is_the_layer_with_its_animation() -> None:
    found = told(event(update=record("left", x=5, requestAnimation=ANIMATION)))
    assert (found.layout_id, found.resource_version) == ("stage", 11)
    assert found.upsert == (layer("left", x=5),)
    assert found.animation
    assert (found.animation.mode, found.animation.layers[0].request_animation) == ("PARALLEL", ANIMATION)


def test_a_deletion_names_its_layer() -> None:
    found = told(event(delete={"id": "left", "layoutId": "stage", "requestMetadata": {}}))
    assert (found.upsert, found.remove, found.animation) == ((), ("left",), None)


def test_a_batch_is_one_change_in_its_order() -> None:
    batch = {
        "layoutId": "stage",
        "requestAnimationMode": "REQUEST_ANIMATION_MODE_SERIES",
        "layers": [
            {"update": record("left", requestAnimation=ANIMATION)},
            {"create": record("new", parentId="root", requestAnimation=ANIMATION)},
            {"update": record("left", requestAnimation=ANIMATION)},
            {"delete": {"id": "old", "layoutId": "stage", "requestMetadata": {}}},
        ],
    }
    found = told(event(batch=batch))
    assert [each.id for each in found.upsert] == ["left", "new"]
    assert found.remove == ("old",)
    assert found.parents == {"new": "root"}
    assert found.animation
    assert found.animation.mode == "SERIES"
    assert [each.id for each in found.animation.layers] == ["left", "new", "left"]


@pytest.mark.parametrize(
    "other",
    [
        {},
        {"payload": {"layer": {"update": record("left")}}},
        {"payload": {"layout": {"update": {}}}, "resourceVersion": "3"},
        {"payload": {"a": 1}, "resourceVersion": "3"},
    ],
)
def test_other_events_and_those_of_a_facade_of_before_tell_nothing(other: JsonObject) -> None:
    assert layers_event(other) is None


def applied(change: JsonObject, *layers: SceneLayer, **fields: Any) -> dict[str, list[str]]:
    """The children of each layer after an event."""
    shown = Scene()
    shown.take(scene(layout(10, *layers, **fields)), Canvas(width=1, height=1))
    shown.apply(told(change))
    return {each.id: each.children for each in shown.state().layouts[0].layers}


NESTED = (
    SceneLayer(id="root", type="root", children=["a", "b"]),
    layer("a", children=["c"]),
    layer("b"),
    layer("c", children=["d"]),
    layer("d"),
)


def test_a_layer_that_is_put_into_another_is_its_last_child() -> None:
    after = applied(event(create=record("new", parentId="root")), ROOT, layer("left"))
    assert after == {"root": ["left", "new"], "left": [], "new": []}


def test_a_layer_that_is_moved_leaves_its_parent() -> None:
    assert applied(event(update=record("c", children=["d"], parentId="b")), *NESTED)["a"] == []
    after = applied(event(update=record("b", children=["c"], parentId="root")), *NESTED)
    assert (after["a"], after["b"]) == ([], ["c"])


def test_a_deletion_takes_those_below_and_leaves_no_child_that_is_none() -> None:
    after = applied(event(delete={"id": "a", "layoutId": "stage"}), *NESTED)
    assert after == {"root": ["b"], "b": []}


def test_a_layout_without_a_scene_keeps_what_its_client_sends() -> None:
    after = applied(event(update=record("b", children=["c"], parentId="d")), *NESTED, type="SCENELESS")
    assert (after["a"], after["b"], after["d"]) == (["c"], ["c"], [])
