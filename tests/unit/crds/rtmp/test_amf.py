"""AMF0 is decoded as it was encoded."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onair_crds.rtmp import amf

VALUES = st.recursive(
    st.none() | st.booleans() | st.floats(allow_nan=False) | st.text(max_size=40),
    lambda inner: st.dictionaries(st.text(min_size=1, max_size=8), inner, max_size=4),
)


def test_a_list_is_one_value() -> None:
    assert amf.decode(amf.encode(["hvc1", 1.0, None], True)) == [["hvc1", 1.0, None], True]


@given(st.lists(VALUES, max_size=6))
def test_amf_round_trips(values: list[object]) -> None:
    assert amf.decode(amf.encode(*values)) == values


@pytest.mark.fuzz
@given(
    st.lists(st.sampled_from(range(14)).map(lambda kind: bytes((kind,))) | st.binary(max_size=8)).map(
        b"".join
    )
)
def test_amf_that_is_cut_short_is_an_error_and_nothing_worse(data: bytes) -> None:
    with contextlib.suppress(amf.AmfError):
        amf.decode(data)


def test_a_long_string_round_trips() -> None:
    assert amf.decode(amf.encode("x" * 70_000)) == ["x" * 70_000]


@pytest.mark.parametrize("opening", [b"\x03\0\x01a", b"\x08\0\0\0\x01\0\x01a", b"\x0a\0\0\0\x01"])
@pytest.mark.parametrize("depth", [17, 100_000])
def test_amf_that_is_nested_deeply_is_an_error_and_not_a_stack_that_overflows(
    opening: bytes, depth: int
) -> None:
    with pytest.raises(amf.AmfError, match="nested too deeply"):
        amf.decode(opening * depth)


def test_amf_that_is_nested_as_commands_are_is_decoded() -> None:
    value: object = 1.0
    for _ in range(amf.MAX_DEPTH):
        value = {"a": value}
    assert amf.decode(amf.encode(value)) == [value]
