"""Updates: which fields of a body are applied over what is stored; tables, then properties."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.bodies import PATIENT, bodies, path_names

from onair_api.errors import InvalidArgument
from onair_api.live.destination.record import DESTINATION_MESSAGE
from onair_api.live.project.record import PROJECT_MESSAGE
from onair_api.wire.decode import Decoder
from onair_api.wire.message import Message
from onair_crds.shapes import Document

Spec = Document
ALL_PATHS = path_names(PROJECT_MESSAGE)
BODIES = bodies(PROJECT_MESSAGE)

STORED: Spec = {
    "collectionId": "c",
    "metadata": {"title": "old", "nested": {"a": 1}},
    "rendering": {"video": {"width": 1280, "height": 720}, "quality": "Standard"},
    "composition": {"external": {"url": "https://a.example/"}},
    "maxDuration": 1000,
    "broadcast": {"state": "Running", "id": "b1"},
}


def apply(spec: Spec, body: Spec, message: Message = PROJECT_MESSAGE) -> Spec:
    reading = Decoder(1_000_000)
    result = reading.merged(message, spec, body)
    assert not reading.violations, reading.violations
    return result


def merged(spec: Spec, body: Spec) -> Spec:
    return Decoder(1_000_000).merged(PROJECT_MESSAGE, spec, body)


@pytest.mark.parametrize("mask", [None, "", "  ", ","])
def test_without_a_mask_the_leaves_of_the_body_are_applied(mask: str | None) -> None:
    body = {"updateMask": mask, "rendering": {"video": {"width": 640, "height": None}}, "maxDuration": None}
    result = apply(STORED, body)
    assert result["rendering"] == {"video": {"width": 640, "height": 720}, "quality": "Standard"}
    assert result["maxDuration"] == 1000


@pytest.mark.parametrize(
    ("body", "changed"),
    [
        ({"updateMask": "maxDuration", "maxDuration": 5, "metadata": 1}, {"maxDuration": 5}),
        ({"updateMask": "maxDuration", "maxDuration": "5"}, {"maxDuration": 5}),
        ({"updateMask": "metadata", "metadata": [1, None]}, {"metadata": [1, None]}),
        ({"updateMask": "metadata", "metadata": {"b": 2}}, {"metadata": {"b": 2}}),
        (
            {"updateMask": "rendering.video.width", "rendering": {"video": {"width": 640, "height": 360}}},
            {"rendering": {"video": {"width": 640, "height": 720}, "quality": "Standard"}},
        ),
        (
            {"updateMask": "rendering.quality", "rendering": {"quality": "RENDERING_QUALITY_HIGH"}},
            {"rendering": {"video": {"width": 1280, "height": 720}, "quality": "High"}},
        ),
        (
            {"updateMask": "rendering", "rendering": {"quality": "RENDERING_QUALITY_HIGH"}},
            {"rendering": {"quality": "High"}},
        ),
        (
            {
                "updateMask": "location.latitude,location.longitude",
                "location": {"latitude": 1, "longitude": 2.5},
            },
            {"location": {"latitude": 1, "longitude": 2.5}},
        ),
        ({"updateMask": "max_duration", "max_duration": 7}, {"maxDuration": 7}),
    ],
)
def test_only_named_fields_are_applied(body: Spec, changed: Spec) -> None:
    assert apply(STORED, body) == {**STORED, **changed}


@pytest.mark.parametrize(
    ("mask", "gone"),
    [
        ("maxDuration", ("maxDuration",)),
        ("metadata", ("metadata",)),
        ("rendering.quality", ("rendering", "quality")),
        ("rendering.video.width", ("rendering", "video", "width")),
        ("rendering", ("rendering",)),
        ("composition", ("composition",)),
    ],
)
@pytest.mark.parametrize("spelled", ["absent", "null"])
def test_a_named_field_that_the_body_omits_is_cleared(mask: str, gone: tuple[str, ...], spelled: str) -> None:
    body: Spec = {"updateMask": mask} | ({gone[0]: None} if spelled == "null" else {})
    expected = copy.deepcopy(STORED)
    parent = expected
    for name in gone[:-1]:
        parent = parent[name]
    del parent[gone[-1]]
    assert apply(STORED, body) == expected


def test_clearing_what_is_not_there_changes_nothing() -> None:
    assert apply(STORED, {"updateMask": "webrtc.hosted.enabled,location"}) == STORED


def test_the_zero_value_of_an_enumeration_means_the_default() -> None:
    body = {"updateMask": "rendering.quality", "rendering": {"quality": "RENDERING_QUALITY_UNSPECIFIED"}}
    assert "quality" not in apply(STORED, body)["rendering"]


@pytest.mark.parametrize(
    "body",
    [
        {"updateMask": "composition.scene.debug", "composition": {"scene": {"debug": True}}},
        {"updateMask": "composition.scene", "composition": {"scene": {"debug": True}}},
        {"composition": {"scene": {"debug": True}}},
    ],
)
def test_naming_a_path_inside_a_member_selects_it_and_drops_the_others(body: Spec) -> None:
    assert apply(STORED, body)["composition"] == {"scene": {"debug": True}}


@pytest.mark.parametrize(
    "composition", [{"external": {"url": "https://a.example/"}}, {"scene": {"debug": True}}]
)
def test_a_named_member_without_a_value_is_its_default(composition: Spec) -> None:
    stored = {**STORED, "composition": composition}
    assert apply(stored, {"updateMask": "composition.scene"})["composition"] == {"scene": {}}


def test_a_named_member_that_is_no_default_is_cleared() -> None:
    assert apply(STORED, {"updateMask": "composition.external"})["composition"] == {}


def test_an_empty_member_without_a_mask_selects_it() -> None:
    assert apply(STORED, {"composition": {"scene": {}}})["composition"] == {"scene": {}}


def test_an_empty_member_without_a_mask_clears_nothing_of_the_member_that_is_there() -> None:
    assert apply(STORED, {"composition": {"external": {}}}) == STORED


def test_two_members_stay_two_so_that_validation_refuses_them() -> None:
    body = {"composition": {"scene": {"debug": True}, "external": {"url": "https://b.example/"}}}
    assert set(apply(STORED, body)["composition"]) == {"scene", "external"}


DESTINATION: Spec = {
    "projectId": "p",
    "address": {"rtmpPush": {"url": "rtmp://a.example/live", "keySecretRef": {"name": "s1", "key": "key"}}},
}
REFERENCE = {"name": "s1", "key": "key"}


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (
            {"updateMask": "enabled", "enabled": False},
            {"url": "rtmp://a.example/live", "keySecretRef": REFERENCE},
        ),
        (
            {"address": {"rtmpPush": {"url": "rtmp://b.example/live"}}},
            {"url": "rtmp://b.example/live", "keySecretRef": REFERENCE},
        ),
        (
            {
                "updateMask": "address.rtmpPush.url",
                "address": {"rtmpPush": {"url": "rtmp://b.example/x", "key": "k"}},
            },
            {"url": "rtmp://b.example/x", "keySecretRef": REFERENCE},
        ),
        (
            {"updateMask": "address", "address": {"rtmpPush": {"url": "rtmp://b.example/x"}}},
            {"url": "rtmp://b.example/x"},
        ),
        ({"updateMask": "address.rtmpPush.key"}, {"url": "rtmp://a.example/live"}),
        (
            {"updateMask": "address.rtmp_push.key", "address": {"rtmpPush": {"key": "new"}}},
            {"url": "rtmp://a.example/live", "key": "new"},
        ),
        (
            {"updateMask": "address.rtmpPush.keySecretRef.name", "address": {"rtmpPush": {}}},
            InvalidArgument,
        ),
    ],
)
def test_a_secret_stays_unless_the_mask_names_it(body: Spec, expected: Any) -> None:
    if expected is InvalidArgument:
        with pytest.raises(InvalidArgument):
            apply(DESTINATION, body, DESTINATION_MESSAGE)
        return
    assert apply(DESTINATION, body, DESTINATION_MESSAGE)["address"] == {"rtmpPush": expected}


def test_a_wrong_type_on_the_way_to_a_named_field_is_told_of_the_field_that_has_it() -> None:
    reading = Decoder(1000)
    reading.merged(
        PROJECT_MESSAGE, STORED, {"updateMask": "rendering.video.width", "rendering": {"video": 5}}
    )
    assert [v.field for v in reading.violations] == ["rendering.video"]


@pytest.mark.parametrize(
    "body", [{}, {"maxDuration": 5}, {"rendering": {"video": {"width": 640}}}, {"updateMask": "maxDuration"}]
)
def test_metadata_that_is_not_named_is_the_stored_one(body: Spec) -> None:
    assert apply(STORED, body)["metadata"] is STORED["metadata"]


@PATIENT
@given(body=BODIES, mask=st.none() | st.lists(st.sampled_from(ALL_PATHS), max_size=5))
def test_a_merge_never_fails_and_never_touches_what_is_not_named(body: Spec, mask: list[str] | None) -> None:
    if mask is not None:
        body["updateMask"] = ",".join(mask)
    before = copy.deepcopy(STORED)
    result = merged(STORED, body)
    assert before == STORED, "the stored spec is not changed in place"
    assert result["broadcast"] == STORED["broadcast"]
    assert result["collectionId"] == "c"
    tops = {path.split(".")[0] for path in mask} if mask else set(body)
    for name in set(STORED) - tops:
        assert result[name] == STORED[name]


@PATIENT
@given(body=BODIES)
def test_merging_the_same_body_twice_is_merging_it_once(body: Spec) -> None:
    once = merged(STORED, body)
    assert merged(once, body) == once


@PATIENT
@given(body=BODIES)
def test_disjoint_masks_commute(body: Spec) -> None:
    one = {**body, "updateMask": "rendering.video,metadata"}
    other = {**body, "updateMask": "rendering.quality,encoding,maxDuration"}
    first = merged(merged(STORED, one), other)
    second = merged(merged(STORED, other), one)
    assert first == second
