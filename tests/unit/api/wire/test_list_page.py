"""Pages of lists that change meanwhile."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onair_api.errors import InvalidArgument
from onair_api.wire.list_page import MAX_LIST, MAX_PAGE_BYTES, Key, page_of


def key(item: str) -> Key:
    return (item,)


def test_all_is_given_where_no_page_is_asked_for_up_to_a_bound() -> None:
    items = [f"{number:06}" for number in range(MAX_LIST + 5)]
    first = page_of(items, {}, key)
    assert (len(first.items), first.field) == (MAX_LIST, {"nextPageToken": first.next_token})
    rest = page_of(items, {"pageToken": first.next_token}, key)
    assert (list(rest.items), rest.field) == (items[MAX_LIST:], {})


@given(st.sets(st.text(max_size=3), max_size=30), st.integers(1, 7), st.randoms(use_true_random=False))
def test_every_item_that_stays_is_on_one_page(names: set[str], size: int, random: Any) -> None:
    items = sorted(names)
    staying, token = set(items), None
    found: list[str] = []
    for _ in range(60):
        page = page_of(items, {"pageSize": str(size), "pageToken": token}, key)
        found += page.items
        token = page.next_token
        if token is None:
            break
        gone = {each for each in items if random.random() < 0.2}
        staying -= gone
        items = sorted((set(items) - gone) | {"new" + each for each in gone})
    assert len(found) == len(set(found))
    assert staying <= set(found)


@given(
    st.lists(st.sampled_from([1, MAX_PAGE_BYTES // 3, MAX_PAGE_BYTES, 3 * MAX_PAGE_BYTES]), max_size=12),
    st.sampled_from(["", "3"]),
)
def test_a_page_ends_before_it_has_too_many_bytes_but_has_an_item(sizes: list[int], number: str) -> None:
    items = [f"{place:02}" for place in range(len(sizes))]
    found: list[str] = []
    token = None
    for _ in range(len(items) + 1):
        message = {"pageSize": number, "pageToken": token}
        page = page_of(items, message, key, size=lambda item: sizes[int(item)])
        taken = [sizes[int(item)] for item in page.items]
        assert len(taken) == 1 or sum(taken) <= MAX_PAGE_BYTES
        found += page.items
        token = page.next_token
        if token is None:
            break
        following = sizes[len(found)]
        assert sum(taken) + following > MAX_PAGE_BYTES or len(taken) == int(number)
    assert found == items


def test_a_list_without_an_order_of_its_own_goes_on_behind_the_last_item() -> None:
    items = ["c", "a", "b"]
    first = page_of(items, {"pageSize": "1"}, key, by_key=False)
    following = {"pageSize": "5", "pageToken": first.next_token}
    assert list(page_of(items, following, key, by_key=False).items) == ["a", "b"]
    with pytest.raises(InvalidArgument, match="no longer exists"):
        page_of(["a", "b"], following, key, by_key=False)


@pytest.mark.parametrize("size", ["0", "", None])
def test_no_size_is_the_default(size: Any) -> None:
    assert list(page_of(["a"], {"pageSize": size}, key).items) == ["a"]


@pytest.mark.parametrize(
    ("field", "value"),
    [
        *(("pageSize", value) for value in ("-1", "1001", "x", "1.5", "9" * 30, "١")),
        *(("pageToken", value) for value in ("x", "W10", "e30", "WzFd", "%%", "\u00e9")),
    ],
)
def test_a_wrong_page_is_refused(field: str, value: str) -> None:
    with pytest.raises(InvalidArgument) as caught:
        page_of(["a"], {field: value}, key)
    assert [violation.field for violation in caught.value.violations] == [field]
