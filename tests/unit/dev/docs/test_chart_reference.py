"""What the schema of the chart's values takes."""

from __future__ import annotations

import re
from ipaddress import IPv6Address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onair_crds.contract.inside_ranges import network_of
from onair_dev.docs.chart_reference import DEFINITIONS


def taken(text: str, rule: str = "list of ranges") -> bool:
    return re.fullmatch(DEFINITIONS[rule]["items"]["pattern"], text) is not None


def is_range(text: str) -> bool:
    """Whether programs can read it."""
    try:
        network_of(text)
    except ValueError:
        return False
    return True


PIECES = st.sampled_from(["0", "1", "00", "25", "255", "256", "fd00", "ABCD", "12345", ".", ":", "::", "/"])
LENGTHS = st.integers(0, 140).map(str) | st.sampled_from(["", "08", "-1", "a"])
GROUPS = st.integers(0, 9).flatmap(lambda count: st.lists(st.just("a"), min_size=count, max_size=count))


@given(st.lists(PIECES, max_size=9).map("".join), LENGTHS)
def test_nothing_is_taken_as_a_range_that_programs_cannot_read(address: str, length: str) -> None:
    if taken(f"{address}/{length}"):
        assert is_range(f"{address}/{length}")
    assert not taken(address)


@given(st.ip_addresses(), st.integers(0, 140))
def test_ranges_are_taken_with_the_lengths_that_their_addresses_can_have(
    address: object, length: int
) -> None:
    assert taken(f"{address}/{length}") == is_range(f"{address}/{length}")
    if isinstance(address, IPv6Address):
        assert taken(f"{address.exploded}/64")


@given(GROUPS, GROUPS)
def test_a_gap_is_taken_where_it_stands_for_a_group_at_least(before: list[str], after: list[str]) -> None:
    text = f"{':'.join(before)}::{':'.join(after)}/64"
    assert taken(text) == is_range(text) == (len(before) + len(after) < 8)


@pytest.mark.parametrize("text", ["10.96.0.10", "fd00::a", "10.96.0.10/12", "fd00::a/64"])
def test_name_servers_may_be_addresses(text: str) -> None:
    assert taken(text, "list of ranges or addresses")
