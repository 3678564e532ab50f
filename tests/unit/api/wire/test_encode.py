"""From the resources' form to responses."""

from __future__ import annotations

from typing import Any

import pytest
from tests.support.decoding import decoded

from onair_api.live.collection.service import COLLECTION_MESSAGE
from onair_api.live.destination.record import DESTINATION_MESSAGE
from onair_api.live.project.record import PROJECT_MESSAGE
from onair_api.live.source.record import SOURCE_MESSAGE
from onair_api.wire.encode import encode_message
from onair_crds.shapes import Document

Spec = Document


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
    again, violations = decoded(written)
    assert not violations
    assert again["encoding"]["video"]["rateControl"]["targetBitrate"] == 4_000_000


def test_what_a_newer_version_stored_is_shown_as_unspecified() -> None:
    written = encode_message(PROJECT_MESSAGE, {"rendering": {"quality": "Ultra"}})
    assert written["rendering"]["quality"] == "RENDERING_QUALITY_UNSPECIFIED"
