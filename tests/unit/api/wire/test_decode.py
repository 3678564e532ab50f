"""From requests to the resources' form."""

from __future__ import annotations

import pytest
from tests.support.decoding import decoded

from onair_crds.shapes import Document

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
