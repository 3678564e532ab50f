"""Lists of requests that are longer than services take."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator

import pytest
from google.protobuf.descriptor import Descriptor

from onair_api.auth.callers import Callers
from onair_api.errors import InvalidArgument
from onair_api.layout.layer.batch import MAX_BATCH, batch_request
from onair_api.operation import AnyOperation, StreamOperation
from onair_api.operations import OPERATIONS, schemas
from onair_api.rpc import json_form
from onair_api.rpc.descriptors import messages_of
from onair_api.rpc.json_form import Field, fields_of
from onair_api.rpc.list_bounds import UNBOUNDED, ListBounds, list_bounds
from onair_api.rpc.message_forms import BINARY, JSON, Unparsed
from onair_api.rpc.method import Method
from onair_api.settings import LimitSettings
from onair_api.wire.schema import Schemas
from onair_crds.runtime import steps
from onair_crds.runtime.steps import at_once

LAYERS, LAYOUTS = "apis.layout.v2.LayerService", "apis.layout.v2.LayoutService"
MIB = 1 << 20
READ_ONLY = {"endpoints"}
"""Lists of messages that only responses have; services look at none of their items."""
OF_HTTP = [each for each in OPERATIONS if not isinstance(each, StreamOperation)]


def bounds_of(operation: AnyOperation) -> ListBounds:
    callers = Callers(None, None, None)  # type: ignore[arg-type]
    return Method(operation, object(), callers, LimitSettings(), schemas()).bounds


def lists_below(fields: tuple[Field, ...], bounds: ListBounds) -> Iterator[tuple[Field, ListBounds]]:
    for field in fields:
        below = bounds.of(field.json_name)
        if field.descriptor and not field.message.startswith("google."):
            if field.repeated:
                yield field, below
            yield from lists_below(fields_of(field.descriptor), below)


@pytest.mark.parametrize("operation", OF_HTTP, ids=lambda each: str(each.name))
def test_each_list_of_messages_of_a_request_has_a_bound(operation: AnyOperation) -> None:
    kind = messages_of(operation.rpc.service, operation.rpc.method or operation.name).request
    for field, bounds in lists_below(fields_of(kind.DESCRIPTOR), bounds_of(operation)):
        assert bounds.most or field.name in READ_ONLY, field


def test_bounds_are_read_through_references() -> None:
    tree: Schemas = {
        "Ask": {"properties": {"one": {"allOf": [{"$ref": "#/x/Part"}]}, "name": {"type": "string"}}},
        "Part": {"properties": {"many": {"maxItems": 3, "items": {"$ref": "#/x/Item"}}}},
        "Item": {"properties": {"again": {"maxItems": 2, "items": {"$ref": "#/x/Item"}}}},
    }
    found = list_bounds("Ask", tree)
    assert found.of("name") == UNBOUNDED
    many = found.of("one").of("many")
    assert (many.most, many.of("again").most) == (3, 2)
    assert many.cut([1, 2, 3]) == [1, 2, 3]
    assert many.cut([1, 2, 3, 4, 5]) == [1, 2, 3, 4], "enough to be too many"


class ConvertedMessages:
    """Counts the messages that are converted."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.number = 0
        patch.setattr(json_form, "fields_of", self._fields_of)

    def _fields_of(self, descriptor: Descriptor) -> tuple[Field, ...]:
        self.number += 1
        return fields_of(descriptor)


@pytest.fixture
def converted(monkeypatch: pytest.MonkeyPatch) -> ConvertedMessages:
    return ConvertedMessages(monkeypatch)


def operation_of(name: str) -> AnyOperation:
    return next(each for each in OF_HTTP if (each.rpc.method or each.name) == name)


def varint(number: int) -> bytes:
    found = b""
    while number > 127:
        found += bytes([number & 127 | 128])
        number >>= 7
    return found + bytes([number])


def inside(number: int, data: bytes) -> bytes:
    """A field that has a message."""
    return varint(number << 3 | 2) + varint(len(data)) + data


async def test_a_batch_of_a_quarter_of_a_million_items_is_refused_unread(
    converted: ConvertedMessages,
) -> None:
    operation = operation_of("Batch")
    kind = messages_of(LAYERS, "Batch").request
    for form, data in (
        (BINARY, b"\x12\x02\x0a\x00" * 260_000),
        (JSON, json.dumps({"layers": [{"create": {}}] * 60_000}).encode()),
    ):
        assert len(data) < MIB
        converted.number = 0
        fields = await Unparsed(data, form).json(kind, 64, bounds_of(operation))
        assert converted.number <= 2 * MAX_BATCH + 10
        with pytest.raises(InvalidArgument, match=f"^layers: must have at most {MAX_BATCH} items$"):
            at_once(batch_request(fields, lambda: "id", LimitSettings()))


@pytest.mark.parametrize(
    ("service", "method", "data", "most"),
    [
        (LAYOUTS, "UpdateLayout", inside(3, inside(10, b"") * 500_000), 64),
        (LAYERS, "UpdateLayer", inside(3, inside(103, b"") * 340_000), 64),
        (LAYERS, "Batch", inside(2, inside(1, inside(103, b"") * 340_000)), 64),
    ],
)
async def test_lists_below_are_bounded_too(
    converted: ConvertedMessages, service: str, method: str, data: bytes, most: int
) -> None:
    assert len(data) < MIB
    kind = messages_of(service, method).request
    await Unparsed(data, BINARY).json(kind, 64, bounds_of(operation_of(method)))
    assert converted.number <= most + 10


@pytest.mark.parametrize(
    "value",
    [
        inside(6, inside(1, b"") * 10_000),
        inside(6, inside(1, inside(6, inside(1, b""))) * 10_000),
        inside(5, b"".join(inside(1, inside(1, b"%d" % number)) for number in range(10_000))),
    ],
    ids=["a list", "lists", "an object"],
)
async def test_others_have_their_turns_while_json_of_any_kind_is_read(
    monkeypatch: pytest.MonkeyPatch, value: bytes
) -> None:
    monkeypatch.setattr(steps, "STEP_S", -1.0)
    kind = messages_of("live.v21.CollectionService", "CreateCollection").request
    reading, turns = asyncio.create_task(Unparsed(inside(1, value), BINARY).json(kind, 64)), 0
    while not reading.done():
        turns += 1
        await asyncio.sleep(0)
    assert len(reading.result()["metadata"]) == 10_000
    assert turns >= 10_000 // 64
