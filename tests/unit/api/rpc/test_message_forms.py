"""Requests in both forms, as anybody may send them."""

from __future__ import annotations

import contextlib
import json
from typing import Any

import orjson
import pytest
from google.protobuf import json_format
from google.protobuf.message import Message
from hypothesis import given, settings
from hypothesis import strategies as st

from onair_api.errors import InvalidArgument
from onair_api.rpc.descriptors import messages_of, methods
from onair_api.rpc.json_form import fill
from onair_api.rpc.message_forms import BinaryForm, Form, JsonForm
from onair_crds.runtime.steps import at_once

KINDS = [messages_of(*each).request for each in sorted(methods())]
PROJECT = messages_of("live.v21.ProjectService", "UpdateProject").request

TEXTS = st.text(max_size=8) | st.sampled_from(
    ["collectionId", "metadata", "rendering", "layer", "layers", "x"]
)
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=12,
)


def read(form: Form, data: bytes, kind: type[Message]) -> None:
    """Reads what need not be a message; all that comes of it is JSON, or the one error."""
    with contextlib.suppress(InvalidArgument):
        json.dumps(at_once(form.json(data, kind, 64)))


@given(st.sampled_from(KINDS), st.binary(max_size=64))
@settings(max_examples=300, deadline=None)
def test_any_bytes_are_a_message_or_refused(kind: type[Message], data: bytes) -> None:
    read(BinaryForm(), data, kind)
    read(JsonForm(), data, kind)


@given(st.sampled_from(KINDS), ANYTHING)
@settings(max_examples=300, deadline=None)
def test_any_json_is_a_message_or_refused(kind: type[Message], value: Any) -> None:
    read(JsonForm(), json.dumps(value).encode(), kind)


@given(st.data())
@settings(max_examples=300, deadline=None)
def test_a_message_with_a_few_wrong_bytes_is_read_or_refused(data: st.DataObject) -> None:
    message = PROJECT()
    fill(
        message,
        {
            "collectionId": "c",
            "updateMask": "metadata,rendering.video.width",
            "metadata": {"a": [1, None, {"b": "c"}]},
            "rendering": {"video": {"width": 1280, "framerate": 29.97}, "quality": "RENDERING_QUALITY_HIGH"},
            "location": {"latitude": 1.5},
        },
    )
    raw = bytearray(message.SerializeToString())
    for _ in range(data.draw(st.integers(1, 4))):
        raw[data.draw(st.integers(0, len(raw) - 1))] = data.draw(st.integers(0, 255))
    read(BinaryForm(), bytes(raw), PROJECT)


@pytest.mark.parametrize(
    "data",
    [
        b"{}{}",
        b"NaN",
        b'{"metadata":NaN}',
        b"\xef\xbb\xbf{}",
        b"[" * 100_000,
        b'{"a":' * 70 + b"1" + b"}" * 70,
    ],
)
def test_what_is_no_json_object_is_refused(data: bytes) -> None:
    with pytest.raises(InvalidArgument):
        at_once(JsonForm().json(data, PROJECT, 64))


SNAPSHOT = messages_of("live.v21.ProjectService", "GetProjectBroadcastSnapshot").response
LAYERS = messages_of("apis.layout.v2.LayerService", "ListLayers").response


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        (SNAPSHOT, {"format": "IMAGE_FORMAT_JPEG", "image": b"\xff\xd8"}),
        (LAYERS, {"layers": [{"id": "a", "x": None, "y": 7, "children": [], "data": {"a": [1, 2.5]}}]}),
        (PROJECT, {"rendering": {"video": {"framerate": 29.97, "width": 1280}}, "maxDuration": 5}),
        (PROJECT, {"metadata": "\u2028", "updateMask": "metadata"}),
    ],
)
def test_json_is_written_as_the_library_reads_it(kind: type[Message], value: dict[str, Any]) -> None:
    message = kind()
    fill(message, value)
    assert json_format.Parse(JsonForm().encode(message), kind()) == message


def test_an_empty_body_is_an_empty_message() -> None:
    for form in (BinaryForm(), JsonForm()):
        assert at_once(form.json(b"", PROJECT, 64)) == {}


def test_a_message_deeper_than_protobuf_reads_is_refused() -> None:
    deep: Any = 1
    for _ in range(60):
        deep = {"a": deep}
    given = JsonForm().json(orjson.dumps({"metadata": deep}), PROJECT, 64)
    assert at_once(given) == {"metadata": deep}
    raw = b"\x20\x01"
    for _ in range(60):  # Value, Struct and entry around it
        entry = b"\x0a\x01a\x12" + _size(raw) + raw
        struct = b"\x0a" + _size(entry) + entry
        raw = b"\x2a" + _size(struct) + struct
    with pytest.raises(InvalidArgument):
        at_once(BinaryForm().json(b"\x22" + _size(raw) + raw, PROJECT, 64))


def _size(data: bytes) -> bytes:
    size, found = len(data), b""
    while size > 127:
        found += bytes([size & 127 | 128])
        size >>= 7
    return found + bytes([size])
