"""AMF0 is decoded as it was encoded."""

from __future__ import annotations

import contextlib

from hypothesis import given
from hypothesis import strategies as st

from onair_encoder.media import amf

VALUES = st.recursive(
    st.none() | st.booleans() | st.floats(allow_nan=False) | st.text(max_size=40),
    lambda inner: st.dictionaries(st.text(min_size=1, max_size=8), inner, max_size=4),
)


@given(st.lists(VALUES, max_size=6))
def test_amf_round_trips(values: list[object]) -> None:
    assert amf.decode(amf.encode(*values)) == values


@given(st.binary(max_size=60))
def test_amf_that_is_cut_short_is_an_error_and_nothing_worse(data: bytes) -> None:
    with contextlib.suppress(amf.AmfError):
        amf.decode(data)


def test_a_long_string_round_trips() -> None:
    assert amf.decode(amf.encode("x" * 70_000)) == ["x" * 70_000]
