"""Messages of protobuf's own as JSON, whatever is stored or sent."""

from __future__ import annotations

from typing import Any

import pytest
from google.protobuf import struct_pb2, timestamp_pb2

from onair_api.errors import InvalidArgument
from onair_api.rpc.well_known import DEEPEST, VALUE, WELL_KNOWN
from onair_crds.runtime.steps import at_once


def there_and_back(given: Any) -> Any:
    message = struct_pb2.Value()
    WELL_KNOWN[VALUE].fill(message, given)
    sent = struct_pb2.Value.FromString(message.SerializeToString())
    return at_once(WELL_KNOWN[VALUE].json(sent, "metadata"))


@pytest.mark.parametrize(("number", "shown"), [(2**60, 2.0**60), (10**400, 1.7976931348623157e308)])
def test_integers_of_any_size_become_doubles(number: int, shown: float) -> None:
    assert there_and_back([number]) == [shown]


def test_json_is_cut_where_readers_give_up() -> None:
    deep: Any = 1
    for _ in range(100):
        deep = {"a": deep}
    left = there_and_back(deep)
    for _ in range(DEEPEST):
        left = left["a"]
    assert left is None


def test_json_without_a_kind_is_null_and_numbers_are_finite() -> None:
    value = WELL_KNOWN[VALUE].json
    assert at_once(value(struct_pb2.Value(), "metadata")) is None
    with pytest.raises(InvalidArgument, match="metadata"):
        at_once(value(struct_pb2.Value(number_value=float("nan")), "metadata"))


def test_times_out_of_the_calendar_are_refused() -> None:
    time = WELL_KNOWN["google.protobuf.Timestamp"].json
    with pytest.raises(InvalidArgument, match="start"):
        at_once(time(timestamp_pb2.Timestamp(seconds=10**15), "start"))
