"""Values between HTTP and the resources, both ways."""

from __future__ import annotations

from typing import Any

import pytest

from onair_api.errors import InvalidArgument, Violation
from onair_api.live.collection.service import COLLECTION_MESSAGE
from onair_api.live.destination.record import DESTINATION_MESSAGE
from onair_api.live.project.record import PROJECT_MESSAGE
from onair_api.live.schemas import live_schemas
from onair_api.live.source.record import SOURCE_MESSAGE
from onair_api.wire.decode import Decoder
from onair_api.wire.encode import encode_message
from onair_api.wire.validation import check
from onair_crds.resources.destination import DestinationSpec
from onair_crds.resources.project import ProjectSpec

Spec = dict[str, Any]


def read(body: Spec, message: Any = PROJECT_MESSAGE) -> tuple[Spec, list[tuple[str, str]]]:
    reading = Decoder(1000)
    return reading.message(message, body), [tuple(v) for v in reading.violations]


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
    assert read(body) == (spec, [])


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
    _, violations = read(body)
    assert [path for path, _ in violations] == [field]


def test_what_is_left_out_is_written_as_the_rules_say() -> None:
    written = encode_message(PROJECT_MESSAGE, {})
    assert written["metadata"] == {}
    assert "webrtc" not in written
    assert "location" not in written
    assert written["rendering"]["video"]["colorSpace"] == "VIDEO_COLOR_SPACE_YUV420"
    assert None not in written.values()


@pytest.mark.parametrize(
    ("message", "spec", "wire"),
    [
        (COLLECTION_MESSAGE, {"owner": {"serviceId": "s"}}, {"metadata": {}}),
        (COLLECTION_MESSAGE, {"metadata": [1]}, {"metadata": [1]}),
        (
            SOURCE_MESSAGE,
            {"address": {"rtmpPush": {}}, "preview": {"webrtc": {}}},
            {
                "metadata": {},
                "address": {"rtmpPush": {"enabled": True}},
                "preview": {"webrtc": {"enabled": True}},
            },
        ),
        (
            DESTINATION_MESSAGE,
            {"address": {"rtmpPush": {"url": "rtmp://a/b", "keySecretRef": {"name": "s", "key": "k"}}}},
            {
                "metadata": {},
                "enabled": True,
                "timeout": 5000,
                "address": {"rtmpPush": {"url": "rtmp://a/b"}},
            },
        ),
        (
            DESTINATION_MESSAGE,
            {
                "enabled": False,
                "address": {
                    "objectStorage": {
                        "region": "r",
                        "bucket": "b",
                        "acl": "PublicRead",
                        "accessKeySecretRef": {"name": "s", "key": "k"},
                        "secretKeySecretRef": {"name": "s", "key": "k"},
                        "packaging": {"hls": {"lifecycle": {"live": {}}}},
                    }
                },
            },
            {
                "metadata": {},
                "enabled": False,
                "timeout": 5000,
                "address": {
                    "objectStorage": {
                        "region": "r",
                        "bucket": "b",
                        "acl": "OBJECT_ACL_PUBLIC_READ",
                        "packaging": {
                            "hls": {
                                "lifecycle": {"live": {"playlistCount": 5, "fileCount": 10}},
                                "segmentDuration": 2000,
                            }
                        },
                    }
                },
            },
        ),
    ],
)
def test_writing(message: Any, spec: Spec, wire: Spec) -> None:
    assert encode_message(message, spec) == wire


def test_a_bitrate_is_written_as_a_string_and_read_back() -> None:
    spec = {"encoding": {"video": {"rateControl": {"targetBitrate": 4_000_000}}}}
    written = encode_message(PROJECT_MESSAGE, spec)
    assert written["encoding"]["video"]["rateControl"]["targetBitrate"] == "4000000"
    again, violations = read(written)
    assert not violations
    assert again["encoding"]["video"]["rateControl"]["targetBitrate"] == 4_000_000


def test_what_a_newer_version_stored_is_shown_as_unspecified() -> None:
    written = encode_message(PROJECT_MESSAGE, {"rendering": {"quality": "Ultra"}})
    assert written["rendering"]["quality"] == "RENDERING_QUALITY_UNSPECIFIED"


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
    spec, violations = read({"composition": {"external": {"url": 5}}})
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


def test_every_schema_reference_leads_somewhere() -> None:
    schemas = live_schemas()

    def references(node: Any) -> list[str]:
        if isinstance(node, dict):
            own = [node["$ref"].rsplit("/", 1)[1]] if "$ref" in node else []
            return own + [r for value in node.values() for r in references(value)]
        return [r for item in node for r in references(item)] if isinstance(node, list) else []

    assert set(references(schemas)) <= set(schemas)
    assert "keySecretRef" not in str(schemas)
