"""Requests for a token of a room."""

from __future__ import annotations

import pytest

from onair_api.errors import InvalidArgument
from onair_api.live.room.request import MAX_DISPLAY_NAME, MAX_METADATA_BYTES, access_request
from onair_crds.shapes import JsonObject


def test_both_spellings_are_read() -> None:
    asked = access_request({"display_name": "Anna", "participant_metadata": {"isMirrored": True}})
    assert (asked.display_name, asked.metadata) == ("Anna", {"isMirrored": True})
    assert access_request({"displayName": "Anna", "participantMetadata": None}).metadata == {}
    assert access_request({"displayName": "Anna", "participantMetadata": '{"a": 1}'}).metadata == {"a": 1}


@pytest.mark.parametrize(
    ("message", "fields"),
    [
        ({}, ["displayName"]),
        ({"displayName": ""}, ["displayName"]),
        ({"displayName": 5, "participantMetadata": []}, ["displayName", "participantMetadata"]),
        ({"displayName": "x" * (MAX_DISPLAY_NAME + 1)}, ["displayName"]),
        ({"displayName": "a\0b"}, ["displayName"]),
        ({"displayName": "A", "participantMetadata": "text"}, ["participantMetadata"]),
        (
            {"displayName": "A", "participantMetadata": {"a": "x" * MAX_METADATA_BYTES}},
            ["participantMetadata"],
        ),
        ({"displayName": "A", "participantMetadata": {"a": 2**70}}, ["participantMetadata"]),
    ],
)
def test_every_wrong_field_is_named(message: JsonObject, fields: list[str]) -> None:
    with pytest.raises(InvalidArgument) as refused:
        access_request(message)
    assert [each.field for each in refused.value.violations] == fields
