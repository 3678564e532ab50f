"""A stored layout as a programme carries it."""

from __future__ import annotations

import json

import pytest
from pydantic import ValidationError

from onair_crds.contract.scene import (
    MAX_SAID_REASON,
    PAGE_MESSAGE,
    PageFailed,
    PageLevels,
    program_layout,
    scene_layer,
)
from onair_crds.shapes import JsonObject


def test_layers_have_their_defaults_and_transitions_the_form_of_http() -> None:
    spec = {
        "projectId": "show",
        "type": "Scene",
        "width": 640,
        "transitions": [
            {"crossfade": {"durationMs": 500}},
            {"fromLayoutIds": ["a"], "swipe": {"durationMs": 300, "direction": "Left"}},
            {"cut": {}},
        ],
        "layers": [
            {"id": "root", "type": "root", "children": ["left"]},
            {"id": "left", "type": "square", "x": 5, "parentId": "root", "data": "odd", "metadata": {"a": 1}},
        ],
    }
    made = json.loads(program_layout("stage", 7, spec, 1280, 720).wire())
    assert (made["id"], made["resourceVersion"], made["type"]) == ("stage", 7, "SCENE")
    assert (made["width"], made["height"]) == (640, 720)
    assert made["transitions"] == [
        {"fromLayoutIds": [], "crossfade": {"durationMs": 500}},
        {"fromLayoutIds": ["a"], "swipe": {"durationMs": 300, "direction": "TRANSITION_DIRECTION_LEFT"}},
        {"fromLayoutIds": [], "cut": {}},
    ]
    assert made["layers"][1] == {
        "id": "left",
        "type": "square",
        "children": [],
        "x": 5,
        **dict.fromkeys(("y", "width", "height")),
        "scale": 1,
        "rotation": 0,
        "opacity": 1,
        "hidden": False,
        "data": {},
    }


def test_a_manifest_may_name_its_tree_by_parents_alone() -> None:
    layers = [{"id": "root", "type": "root"}, {"id": "left", "type": "square", "parentId": "root"}]
    made = program_layout("stage", 1, {"type": "Scene", "layers": layers}, 1280, 720)
    assert made.layers[0].children == ["left"]


def test_an_unset_type_is_sceneless() -> None:
    assert program_layout("stage", 1, {}, 1280, 720).type == "SCENELESS"


@pytest.mark.parametrize(
    "spec",
    [
        {"type": "Other"},
        {"type": "Scene", "layers": [{"id": "a", "type": "square", "opacity": "much"}]},
        {"type": "Scene", "transitions": [{"crossfade": {}}]},
    ],
)
def test_what_breaks_a_rule_is_a_value_error(spec: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=r".+"):
        program_layout("stage", 1, spec, 1280, 720)


def test_a_record_of_http_is_the_same_layer_as_the_stored_one() -> None:
    record: JsonObject = {
        "id": "left",
        "layoutId": "stage",
        "type": "square",
        "x": None,
        "y": 4,
        "children": [],
        "data": {},
        "parentId": "root",
        "requestMetadata": {},
        "requestAnimation": [],
    }
    assert scene_layer(record) == scene_layer({"id": "left", "type": "square", "y": 4})


def test_messages_of_a_page_are_bounded() -> None:
    levels = json.dumps({"type": "levels", "layers": {str(number): -1 for number in range(501)}})
    with pytest.raises(ValidationError):
        PAGE_MESSAGE.validate_json(levels)
    assert isinstance(PAGE_MESSAGE.validate_json('{"type":"levels","layers":{"a":-3}}'), PageLevels)
    failure = {"layoutId": "stage", "layerId": "left", "reason": "x" * 1_000_000}
    failed = PAGE_MESSAGE.validate_json(json.dumps({"type": "failed", "layers": [failure]}))
    assert isinstance(failed, PageFailed)
    assert len(failed.layers[0].reason) == MAX_SAID_REASON
