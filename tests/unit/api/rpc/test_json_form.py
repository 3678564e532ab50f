"""Messages of protobuf as the JSON of services."""

from __future__ import annotations

from typing import Any

import pytest
from google.protobuf.message import Message
from tests.support.rpc import json_of

from onair_api.rpc.descriptors import messages_of
from onair_api.rpc.json_form import fields_of, fill, filled, known_json, shortest
from onair_crds.runtime.steps import at_once
from onair_crds.shapes import JsonObject

PROJECT = messages_of("live.v21.ProjectService", "CreateProject")
LAYER = messages_of("apis.layout.v2.LayerService", "UpdateLayer")
LAYOUT = messages_of("apis.layout.v2.LayoutService", "CreateLayout")
STATUS = messages_of("live.v21.ProjectService", "GetProjectBroadcastStatus")


def there_and_back(kind: type[Message], value: JsonObject) -> JsonObject:
    message = kind()
    fill(message, value)
    return json_of(kind.FromString(message.SerializeToString()))


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        (PROJECT.request, {}),
        (PROJECT.request, {"metadata": None}),
        (PROJECT.request, {"metadata": {"a": [1, 2.5, None, True, "x", {}, []]}}),
        (PROJECT.request, {"metadata": "text"}),
        (PROJECT.request, {"rendering": {"video": {"framerate": 29.97, "width": 1280}}}),
        (PROJECT.request, {"rendering": {}, "webrtc": {"hosted": {}}}),
        (PROJECT.request, {"encoding": {"audio": {"codec": "AUDIO_CODEC_AAC"}}}),
        (PROJECT.request, {"location": {"latitude": 0, "longitude": -13.25}}),
        (LAYER.request, {"layer": {"x": None, "width": 7, "hidden": False, "opacity": 0.0}}),
        (LAYER.request, {"layer": {"children": [], "data": {}}}),
        (LAYER.request, {"layer": {"children": ["a", "b"], "data": {"volume": 0}}}),
        (LAYOUT.request, {"layout": {"transitions": [{"cut": {}}, {"crossfade": {"durationMs": 0}}]}}),
        (STATUS.response, {"status": {"start": "2026-01-02T03:04:05.500Z", "duration": 5}}),
    ],
)
def test_a_value_comes_back_as_it_was(kind: type[Message], value: JsonObject) -> None:
    assert there_and_back(kind, value) == value


def test_what_cannot_be_absent_is_there_if_it_is_a_number() -> None:
    read = there_and_back(PROJECT.request, {"location": {}})
    assert read == {"location": {"latitude": 0.0, "longitude": 0.0}}


@pytest.mark.parametrize("digits", [25, 23.976, 29.97, 59.94, 1 / 3, 1e-20, float("inf")])
def test_a_float_of_32_bits_is_written_as_short_as_it_can_be(digits: float) -> None:
    message = PROJECT.request()
    fill(message, {"rendering": {"video": {"framerate": digits}}})
    found: Any = message
    narrow = found.rendering.video.framerate
    assert shortest(narrow) == pytest.approx(digits)
    assert len(repr(shortest(narrow))) <= len(repr(narrow))


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ({"duration": 2**40}, {"duration": 2**32 - 1}),
        ({"duration": -1}, {"duration": 0}),
        ({"start": "yesterday"}, {}),
        ({"region": "REGION_OF_TOMORROW"}, {"region": "REGION_UNSPECIFIED"}),
        ({"unheardOf": 1}, {}),
    ],
)
def test_what_is_stored_is_shown_whatever_it_is(given: JsonObject, shown: JsonObject) -> None:
    assert there_and_back(STATUS.response, {"status": given})["status"] == shown


def test_proto_json_is_read_in_both_spellings_and_enumerations_by_number() -> None:
    given = {
        "collection_id": "c",
        "maxDuration": "5",
        "other": 1,
        "encoding": {"video": {"codec": 1, "rate_control": {"target_bitrate": 7}}},
        "metadata": {"snake_case": {"codec": 1}},
        "composition": [],
    }
    assert at_once(known_json(fields_of(PROJECT.request.DESCRIPTOR), given)) == {
        "collectionId": "c",
        "maxDuration": "5",
        "encoding": {"video": {"codec": "VIDEO_CODEC_H264", "rateControl": {"targetBitrate": 7}}},
        "metadata": {"snake_case": {"codec": 1}},
        "composition": [],
    }


async def test_long_lists_are_the_same_in_steps() -> None:
    kind = messages_of("live.v21.CollectionService", "GetCollections").response
    projects = [{"projectId": f"p{i}", "metadata": {"i": i}} for i in range(500)]
    value = {"collections": [{"collectionId": "c", "projects": projects}]}
    one, other = kind(), kind()
    fill(one, value)
    await filled(other, value)
    assert one == other
