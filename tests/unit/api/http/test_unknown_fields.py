"""Which fields of a body nobody reads, and how a response names them."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onair_api.http.openapi import document
from onair_api.http.unknown_fields import known_fields, unknown_fields
from onair_api.http.unknown_fields import warning_of as warning_in_steps
from onair_api.operation import AnyOperation, Operation
from onair_api.operations import OPERATIONS, schemas
from onair_crds.runtime.steps import at_once
from onair_crds.shapes import JsonObject

BY_NAME: dict[str, AnyOperation] = {each.name: each for each in OPERATIONS if isinstance(each, Operation)}


def unknown(operation: str, body: JsonObject) -> list[str]:
    found = unknown_fields(known_fields(BY_NAME[operation].messages, schemas()), body)
    return [name for name in found if name is not None]


def warning_of(names: Iterable[str]) -> str | None:
    return at_once(warning_in_steps(names))


@pytest.mark.parametrize(
    ("operation", "body", "names"),
    [
        ("CreateProject", {"rendring": {}}, ["rendring"]),
        ("CreateProject", {"rendering": {"video": {"widht": 1}}}, ["rendering.video.widht"]),
        ("CreateProject", {"rendering": {"target_latency": 1, "video": {"color_space": ""}}}, []),
        ("CreateProject", {"metadata": {"anything": {"goes": 1}}, "requestMetadata": {"a": 1}}, []),
        ("CreateProject", {"rendering": None, "composition": "text"}, []),
        ("UpdateProject", {"updateMask": "", "update_mask": "", "maxDuration": 1}, []),
        (
            "UpdateDestination",
            {"collectionId": "c", "destinationId": "d", "connect": "x", "since": "y", "lastError": "z"},
            [],
        ),
        ("CreateDestination", {"address": {"rtmpPush": {"url": "", "kee": ""}}}, ["address.rtmpPush.kee"]),
        ("UpdateSource", {"address": {"rtmpPush": {"enabled": True, "key": "k", "baseUrl": "b"}}}, []),
        (
            "Batch",
            {"layers": [{"create": {"type": "text"}}, {"update": {"id": "a", "wight": 1}}]},
            ["layers[1].update.wight"],
        ),
        ("CreateLayer", {"type": "text", "data": {"any": {"thing": 1}}, "x": None}, []),
        ("UpdateLayout", {"id": "i", "transitions": [{"cut": {}, "fade": {}}]}, ["transitions[0].fade"]),
        ("CreateGuestAccessToken", {"token": {"direct": {"displayName": "a"}}, "role": "x"}, []),
        ("PublishEvent", {"name": "a", "payload": {"b": {"c": 1}}, "target": {"x": 1}}, ["target.x"]),
    ],
)
def test_what_neither_request_nor_response_has_is_unknown(
    operation: str, body: JsonObject, names: list[str]
) -> None:
    assert unknown(operation, body) == names


def test_no_example_of_the_document_has_an_unknown_field() -> None:
    tried = 0
    for path in document("https://onair.example")["paths"].values():
        for described in path.values():
            content = described.get("requestBody", {}).get("content", {}).get("application/json", {})
            operation = BY_NAME.get(described["operationId"])
            if operation and "example" in content:
                assert unknown(operation.name, content["example"]) == []
                tried += 1
    assert tried >= 8


def test_many_names_are_cut_short() -> None:
    warning = warning_of(f"field-{number}" for number in range(100))
    assert warning is not None
    assert warning.startswith('299 - "unknown field field-0 is ignored", 299 - ')
    assert warning.endswith('299 - "and more unknown fields"')
    assert warning.count("299 - ") == 11
    assert warning_of(iter(())) is None


def test_long_names_leave_room_for_other_headers() -> None:
    warning = warning_of(f"{number}-{'x' * 500}" for number in range(10)) or ""
    assert 1_200 < len(warning) <= 1_500
    assert warning.endswith('299 - "and more unknown fields"')


def test_what_is_not_ascii_is_replaced() -> None:
    assert warning_of(iter(['größe\x7f\U0001f600\ud800\n"'])) == (
        '299 - "unknown field gr??e???\\n\\" is ignored"'
    )


@given(st.lists(st.text()))
def test_any_names_fit_into_a_header(names: list[str]) -> None:
    warning = warning_of(iter(names)) or ""
    assert warning.isascii()
    assert not warning or warning.isprintable()
    assert len(warning) <= 1_500
    assert bool(warning) is bool(names)
