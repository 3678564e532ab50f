"""From requests to the resources' form."""

from __future__ import annotations

from typing import Any

import orjson
import pytest
from tests.support.decoding import decoded

from onair_api.errors import MAX_VIOLATIONS, InvalidArgument
from onair_api.layout.layer.request import LAYER_MESSAGE
from onair_api.wire.decode import Decoder
from onair_api.wire.message import message_of
from onair_api.wire.spec import created_spec
from onair_crds.resources.layout import LayoutSpec
from onair_crds.shapes import Document

LAYOUT_MESSAGE = message_of(LayoutSpec)

Spec = Document


@pytest.mark.parametrize(
    ("body", "spec"),
    [
        ({}, {}),
        ({"maxDuration": 5}, {"maxDuration": 5}),
        ({"maxDuration": "5"}, {"maxDuration": 5}),
        ({"maxDuration": 5.0}, {"maxDuration": 5}),
        ({"maxDuration": None}, {}),
        ({"max_duration": 5}, {"maxDuration": 5}),
        ({"unknown": {"x": 1}, "projectId": "x", "broadcast": {"state": "Running"}}, {}),
        ({"metadata": "text"}, {"metadata": "text"}),
        ({"metadata": 0}, {"metadata": 0}),
        (
            {"metadata": {"a": None, "b": [1, {"c": 1e308}]}},
            {"metadata": {"a": None, "b": [1, {"c": 1e308}]}},
        ),
        ({"rendering": {"video": {"framerate": "29.97"}}}, {"rendering": {"video": {"framerate": 29.97}}}),
        ({"rendering": {"video": {"framerate": 30.0}}}, {"rendering": {"video": {"framerate": 30}}}),
        (
            {"encoding": {"video": {"rateControl": {"targetBitrate": "4000000"}}}},
            {"encoding": {"video": {"rateControl": {"targetBitrate": 4_000_000}}}},
        ),
        ({"rendering": {"quality": "RENDERING_QUALITY_HIGH"}}, {"rendering": {"quality": "High"}}),
        ({"rendering": {"quality": "RENDERING_QUALITY_UNSPECIFIED"}}, {"rendering": {}}),
        ({"composition": {"scene": {}, "external": None}}, {"composition": {"scene": {}}}),
        ({"webrtc": {"hosted": {"enabled": False}}}, {"webrtc": {"hosted": {"enabled": False}}}),
    ],
)
def test_reading(body: Spec, spec: Spec) -> None:
    assert decoded(body) == (spec, [])


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"maxDuration": "five"}, "maxDuration"),
        ({"maxDuration": 5.5}, "maxDuration"),
        ({"maxDuration": True}, "maxDuration"),
        ({"maxDuration": [5]}, "maxDuration"),
        ({"maxDuration": "9" * 30}, "maxDuration"),
        ({"rendering": 5}, "rendering"),
        ({"rendering": []}, "rendering"),
        ({"rendering": {"video": {"width": {}}}}, "rendering.video.width"),
        ({"rendering": {"video": {"framerate": "NaN"}}}, "rendering.video.framerate"),
        ({"rendering": {"video": {"framerate": "1e999"}}}, "rendering.video.framerate"),
        ({"rendering": {"quality": "HIGH"}}, "rendering.quality"),
        ({"rendering": {"quality": "High"}}, "rendering.quality"),
        ({"rendering": {"quality": 2}}, "rendering.quality"),
        ({"composition": {"external": {"url": 1}}}, "composition.external.url"),
        ({"composition": {"external": {"url": "http://a.example/\0"}}}, "composition.external.url"),
        ({"webrtc": {"hosted": {"enabled": "yes"}}}, "webrtc.hosted.enabled"),
        ({"metadata": "x" * 1001}, "metadata"),
    ],
)
def test_a_wrong_value_is_noted_with_its_path(body: Spec, field: str) -> None:
    _, violations = decoded(body)
    assert [path for path, _ in violations] == [field]


@pytest.mark.parametrize(
    ("body", "field", "most"),
    [
        ({"children": ["a"] * 501}, "children", 500),
        ({"children": [1] * 520_000}, "children", 500),
        ({"children": [None] * 501}, "children", 500),
        ({"transitions": [1] * 340_000}, "transitions", 64),
        ({"transitions": [{"fromLayoutIds": [1] * 340_000}]}, "transitions[0].fromLayoutIds", 64),
    ],
)
def test_a_list_that_is_too_long_is_refused_as_the_model_would_without_a_look_at_its_items(
    body: Spec, field: str, most: int
) -> None:
    looked_at: list[str] = []

    class ItemCountingDecoder(Decoder):
        def _string(self, *args: Any) -> Any:
            looked_at.append(args[-1])
            return super()._string(*args)

    decoder = ItemCountingDecoder(1000)
    decoder.message(LAYER_MESSAGE if "children" in body else LAYOUT_MESSAGE, body)
    assert decoder.violations == [(field, f"must have at most {most} items")]
    assert looked_at == []


def test_a_list_of_as_many_items_as_may_be_is_read() -> None:
    assert decoded({"children": ["a"] * 500}, LAYER_MESSAGE) == ({"children": ["a"] * 500}, [])


def test_of_many_wrong_items_each_holds_its_place_and_a_few_are_named() -> None:
    spec, violations = decoded({"children": [1] * 499 + ["a"]}, LAYER_MESSAGE)
    assert spec == {"children": [None] * 499 + ["a"]}
    assert len(violations) == MAX_VIOLATIONS + 1


@pytest.mark.parametrize(
    "transitions",
    [
        [1] * 340_000,
        [{"fromLayoutIds": [1] * 340_000}],
        [{"fromLayoutIds": [1] * 64}] * 64,
        [{"crossfade": {"durationMs": "long"}, "fromLayoutIds": [1] * 64}] * 64,
    ],
)
def test_an_error_about_lists_is_small_whatever_is_in_them(transitions: list[Any]) -> None:
    with pytest.raises(InvalidArgument) as caught:
        created_spec(LayoutSpec, LAYOUT_MESSAGE, {"transitions": transitions}, 1000)
    assert len(caught.value.violations) <= MAX_VIOLATIONS
    assert len(orjson.dumps(caught.value.body())) < 25_000
