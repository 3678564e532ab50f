"""Patterns against names of events."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onair_api.event.names import pattern

TEXT = st.text(alphabet="ab:*|", max_size=12)


def naive(text: str, name: str) -> bool:
    """The meaning of a pattern, spelt out by recursion: slow, and obviously right."""

    def glob(rest: str, left: str) -> bool:
        if not rest:
            return not left
        if rest[0] == "*":
            return glob(rest[1:], left) or bool(left and glob(rest, left[1:]))
        return bool(left) and rest[0] == left[0] and glob(rest[1:], left[1:])

    return any(glob(alternative, name) for alternative in text.split("|"))


@given(TEXT, st.text(alphabet="ab:", max_size=10))
def test_matching_means_what_recursion_says(text: str, name: str) -> None:
    assert pattern(text).matches(name) == naive(text, name)


@pytest.mark.parametrize(
    ("text", "name", "matches"),
    [
        ("*", "", True),
        ("*", "a:b", True),
        ("apistream:live:*", "apistream:live:EVENT_TYPE_PROJECT:EVENT_SUB_TYPE_STATE", True),
        ("*:EVENT_SUB_TYPE_STATE", "apistream:live:EVENT_TYPE_PROJECT:EVENT_SUB_TYPE_STATE", True),
        ("aba*bab", "abab", False),
        ("a|b*", "a", True),
        ("a|b*", "ab", False),
        ("A", "a", False),
        ("a.c", "abc", False),
    ],
)
def test_examples(text: str, name: str, matches: bool) -> None:
    assert pattern(text).matches(name) is matches


class SearchCountingName(str):
    """Counts how often it is searched."""

    searches = 0

    def find(self, *args: Any) -> int:
        self.searches += 1
        return super().find(*args)


def test_a_hostile_pattern_is_searched_without_backtracking() -> None:
    name = SearchCountingName("a" * 128)
    assert not pattern("*a" * 500 + "*b*").matches(name)
    assert name.searches <= 129, "each piece is searched once, until one is not found"
