"""Nesting of JSON."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from onair_api.wire.depth import is_deeper_than
from onair_crds.runtime.steps import at_once


def depth_of(value: Any) -> int:
    if isinstance(value, dict):
        return 1 + max(map(depth_of, value.values()), default=0)
    return 1 + max(map(depth_of, value), default=0) if isinstance(value, list) else 0


@given(
    st.recursive(
        st.integers(),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=2), inner, max_size=3),
    ),
    st.integers(1, 6),
)
def test_depth_is_counted_in_containers(value: Any, limit: int) -> None:
    if isinstance(value, dict | list):
        assert at_once(is_deeper_than(value, limit)) == (depth_of(value) > limit)
