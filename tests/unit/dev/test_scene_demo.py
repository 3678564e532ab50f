"""What the demo of a scene makes of its example, and which frames it picks."""

from __future__ import annotations

import numpy as np
import pytest

from onair_crds.shapes import JsonObject
from onair_dev.failures import Failed
from onair_dev.scene_demo import between, layers_of, transitions_of

RATE = 30


def shots(*levels: int) -> np.ndarray[tuple[int, ...], np.dtype[np.uint8]]:
    return np.stack([np.full((36, 64), level, np.uint8) for level in levels])


def test_layers_are_made_parents_first_and_in_their_order() -> None:
    layers: list[JsonObject] = [
        {"id": "inner", "type": "source", "x": 8, "data": {"source": {"id": "camera-1", "volume": 1}}},
        {"id": "root", "type": "root", "children": ["outer", "top"]},
        {"id": "top", "type": "text"},
        {"id": "outer", "type": "square", "children": ["inner"]},
    ]
    assert layers_of(layers, "r", "s") == [
        {"type": "square", "parentId": "r"},
        {"type": "source", "x": 8, "data": {"source": {"id": "s", "volume": 1}}, "parentId": "index:0"},
        {"type": "text", "parentId": "r"},
    ]


def test_transitions_have_the_names_of_http() -> None:
    given: list[JsonObject] = [
        {"crossfade": {"durationMs": 800}, "fromLayoutIds": ["one"]},
        {"swipe": {"durationMs": 800, "direction": "Left", "combinedAnimation": "Combined"}},
    ]
    crossfade, swipe = transitions_of(given, {"one": "l1"})
    assert crossfade == {"crossfade": {"durationMs": 800}, "fromLayoutIds": ["l1"]}
    assert swipe["swipe"]["direction"] == "TRANSITION_DIRECTION_LEFT"
    assert swipe["swipe"]["combinedAnimation"] == "TRANSITION_SWIPE_TYPE_COMBINED"


def test_the_middle_of_a_transition_is_found_beside_a_camera_that_moves() -> None:
    flicker = [10, 14] * RATE
    frames = shots(*flicker, *range(20, 200, 10), *[200, 204] * RATE)
    assert between(frames, 0, len(frames) - 1) == 2 * RATE + 9


def test_a_cut_is_no_transition() -> None:
    with pytest.raises(Failed, match="cannot be seen"):
        between(shots(*[10] * RATE, *[200] * RATE), 0, 2 * RATE - 1)
