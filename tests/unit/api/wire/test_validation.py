"""What models say, in the interface's words."""

from __future__ import annotations

from typing import Any

import pytest
from tests.support.decoding import decoded

from onair_api.errors import InvalidArgument, Violation
from onair_api.wire.validation import check
from onair_crds.resources.destination import DestinationSpec
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
                "rendering.video.width": "must be even",
                "rendering.video.height": "must be at least 240",
                "rendering.video.framerate": "must be at most 60",
            },
        ),
        (
            ProjectSpec,
            {"collectionId": "c", "maxDuration": 604_800_001},
            {"maxDuration": "must be at most 604800000"},
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
                "timeout": "must be at least 100",
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
