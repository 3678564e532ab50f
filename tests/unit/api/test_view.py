"""What reads see when watch, writes and lists arrive in any order."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onair_api.cache.kinds import PROJECT
from onair_api.cache.view import View


def project(name: str, version: int, uid: str = "", collection: str = "c", **metadata: Any) -> dict[str, Any]:
    return {
        "metadata": {"name": name, "uid": uid or f"uid-{name}", "resourceVersion": str(version), **metadata},
        "spec": {"collectionId": collection},
    }


def test_the_newer_version_stays_whatever_comes_first() -> None:
    view = View()
    view.put(PROJECT, project("a", 10))
    assert view.put(PROJECT, project("a", 9)).version == 10  # type: ignore[union-attr]
    assert view.put(PROJECT, project("a", 11)).version == 11  # type: ignore[union-attr]


def test_versions_are_compared_as_numbers() -> None:
    view = View()
    view.put(PROJECT, project("a", 9))
    assert view.put(PROJECT, project("a", 10)).version == 10  # type: ignore[union-attr]


def test_what_is_gone_does_not_come_back_by_a_late_answer() -> None:
    view = View()
    view.put(PROJECT, project("a", 5))
    view.remove(PROJECT, "a", "uid-a")
    assert view.put(PROJECT, project("a", 6)) is None
    assert view.get(PROJECT, "a") is None
    assert view.children(PROJECT, "c") == []


def test_another_object_of_the_same_name_is_another() -> None:
    view = View()
    view.put(PROJECT, project("a", 5, uid="one"))
    view.remove(PROJECT, "a", "one")
    assert view.put(PROJECT, project("a", 7, uid="two")) is not None
    view.remove(PROJECT, "a", "one")
    assert view.get(PROJECT, "a") is not None


def test_an_object_that_is_being_deleted_is_not_seen() -> None:
    view = View()
    view.put(PROJECT, project("a", 5, deletionTimestamp="2026-01-01T00:00:00Z"))
    assert view.get(PROJECT, "a") is None
    assert view.children(PROJECT, "c") == []


def test_a_list_takes_away_what_it_lacks_but_not_what_is_newer() -> None:
    view = View()
    view.put(PROJECT, project("old", 5))
    view.put(PROJECT, project("own-write", 12))
    view.replace_all(PROJECT, [project("listed", 8)], 10)
    assert {e.name for e in view.children(PROJECT, "c")} == {"listed", "own-write"}


def test_children_come_oldest_first_by_the_finer_time() -> None:
    view = View()
    times = {
        "c": {"creationTimestamp": "2026-01-01T00:00:01Z"},
        "b": {"annotations": {"onair.dev/created": "2026-01-01T00:00:00.000002Z"}},
        "a": {"annotations": {"onair.dev/created": "2026-01-01T00:00:00.000010Z"}},
        "d": {"creationTimestamp": "2026-01-01T00:00:00Z"},
    }
    for number, (name, metadata) in enumerate(times.items()):
        view.put(PROJECT, project(name, number + 1, **metadata))
    assert [e.name for e in view.children(PROJECT, "c")] == ["d", "b", "a", "c"]


@given(st.permutations(range(1, 7)), st.integers(0, 6))
def test_any_order_of_versions_ends_at_the_newest(versions: list[int], deleted_after: int) -> None:
    view = View()
    for position, version in enumerate(versions):
        if position == deleted_after:
            view.remove(PROJECT, "a", "uid-a")
        view.put(PROJECT, project("a", version, collection=f"c{version % 2}"))
    found = [view.children(PROJECT, c) for c in ("c0", "c1")]
    if deleted_after < len(versions):
        assert found == [[], []]
    else:
        assert found == [[view.get(PROJECT, "a")], []]


@pytest.mark.parametrize("count", [3])
def test_listeners_hear_of_every_change_and_of_nothing_else(count: int) -> None:
    view, heard = View(), []
    view.on_change(PROJECT, lambda: heard.append(1))
    for _ in range(count):
        view.put(PROJECT, project("a", 5))
    view.remove(PROJECT, "a", "other")
    assert len(heard) == 1
    view.remove(PROJECT, "a", "uid-a")
    assert len(heard) == 2
