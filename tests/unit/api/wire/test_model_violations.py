"""What models say, in the interface's words."""

from __future__ import annotations

from typing import Any

import pytest
from tests.support.decoding import decoded

from onair_api.errors import InvalidArgument, Violation
from onair_api.wire.model_violations import check
from onair_crds.resources.destination import DestinationSpec
from onair_crds.resources.layout import LayoutSpec
from onair_crds.resources.project import ProjectSpec
from onair_crds.shapes import Document

Spec = Document

STORAGE = {"region": "r", "bucket": "b", "packaging": {"hls": {}}}


@pytest.mark.parametrize(
    ("model", "spec", "violations"),
    [
        (
            ProjectSpec,
            {"collectionId": "c", "rendering": {"video": {"width": 1281, "height": 100, "framerate": 61}}},
            {
                "rendering.video.width": "must be from 320 to 3840 and even",
                "rendering.video.height": "must be from 240 to 2160 and even",
                "rendering.video.framerate": "must be from 1 to 60",
            },
        ),
        (
            ProjectSpec,
            {"collectionId": "c", "maxDuration": 604_800_001},
            {"maxDuration": "must be from 1 to 604800000"},
        ),
        (
            ProjectSpec,
            {"collectionId": "c", "rendering": {"video": {"width": -1}}},
            {"rendering.video.width": "must be from 320 to 3840 and even"},
        ),
        (
            LayoutSpec,
            {"layers": [{"id": "a", "type": "root"}, {"id": "b", "type": "text", "x": 10_001}]},
            {"projectId": "is required", "layers[1].x": "must be from -10000 to 10000"},
        ),
        (
            ProjectSpec,
            {"collectionId": "c", "composition": {}},
            {"composition": "exactly one of studioSdk, scene, external must be given"},
        ),
        (
            ProjectSpec,
            {"collectionId": "c", "composition": {"external": {}}},
            {"composition.external.url": "is required"},
        ),
        (DestinationSpec, {"projectId": "p"}, {"address": "is required"}),
        (
            DestinationSpec,
            {"projectId": "p", "address": {"objectStorage": STORAGE}},
            {
                "address.objectStorage.accessKey": "is required",
                "address.objectStorage.secretKey": "is required",
            },
        ),
        (
            DestinationSpec,
            {"projectId": "p", "address": {"rtmpPush": {"url": "http://a.example"}}, "timeout": 99},
            {
                "address.rtmpPush.url": "must be an rtmp, rtmps or srt URL",
                "timeout": "must be from 100 to 30000",
            },
        ),
    ],
)
def test_every_wrong_field_is_named(model: Any, spec: Spec, violations: dict[str, str]) -> None:
    with pytest.raises(InvalidArgument) as caught:
        check(model, spec)
    assert dict(caught.value.violations) == violations


def test_a_model_is_not_asked_about_a_field_that_reading_has_refused() -> None:
    spec, violations = decoded({"composition": {"external": {"url": 5}}})
    with pytest.raises(InvalidArgument) as caught:
        check(ProjectSpec, {"collectionId": "c", **spec}, [Violation(*v) for v in violations])
    assert [v.field for v in caught.value.violations] == ["composition.external.url"]


def test_no_message_repeats_a_value() -> None:
    secret = "rtmp-secret-value"
    with pytest.raises(InvalidArgument) as caught:
        check(
            DestinationSpec, {"projectId": "p", "address": {"rtmpPush": {"url": secret}}, "timeout": secret}
        )
    assert secret not in str(caught.value.body())
