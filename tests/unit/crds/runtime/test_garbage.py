"""What lives long is not looked at again by every collection; what is in a circle is still collected."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator

import pytest

from onair_crds.runtime.garbage import short_collections
from onair_crds.shapes import Document


class Circle:
    def __init__(self) -> None:
        self.itself = self


@pytest.fixture(autouse=True)
def _unfrozen() -> Iterator[None]:
    yield
    gc.unfreeze()


def test_what_survives_a_long_collection_is_left_out_of_later_ones() -> None:
    with short_collections(long_s=0.0):
        before = gc.get_freeze_count()
        documents: list[Document] = [{"metadata": {"labels": [number]}} for number in range(50_000)]
        gc.collect()
        assert gc.get_freeze_count() - before > len(documents)
        assert len(gc.get_objects()) < len(documents)


def test_what_is_there_at_the_beginning_is_left_out() -> None:
    with short_collections(long_s=60.0):
        assert len(gc.get_objects()) < gc.get_freeze_count()


def test_circles_are_still_collected() -> None:
    with short_collections(long_s=0.0):
        gc.collect()
        circle = weakref.ref(Circle())
        gc.collect()
        assert circle() is None


def _connections(count: int) -> list[weakref.ref[Circle]]:
    """Circles that live while a full collection looks at them, as open connections do."""
    gc.disable()
    circles = [Circle() for _ in range(count)]
    gc.enable()
    gc.collect()
    return [weakref.ref(each) for each in circles]


def _collected(circles: list[weakref.ref[Circle]]) -> bool:
    gc.collect()
    return all(each() is None for each in circles)


def test_circles_that_were_left_out_are_collected_once_they_are_many() -> None:
    with short_collections(long_s=0.0, everything_after_s=0.0):
        before = gc.get_freeze_count()
        few = _connections(before // 8)
        assert not _collected(few), "what is left out is less than half as much again"
        more = _connections(before)
        assert _collected(few)
        assert not _collected(more), "what lives is left out again"


def test_everything_is_not_looked_at_more_often_than_it_may() -> None:
    with short_collections(long_s=0.0, everything_after_s=60.0):
        assert not _collected(_connections(gc.get_freeze_count()))


def test_what_survives_a_short_collection_is_looked_at_again() -> None:
    with short_collections(long_s=60.0):
        before = gc.get_freeze_count()
        documents: list[Document] = [{"metadata": {}} for _ in range(50_000)]
        gc.collect()
        assert gc.get_freeze_count() <= before
        assert len(gc.get_objects()) > len(documents)


def test_no_full_collection_looks_at_much_however_much_comes() -> None:
    """All of it would take a tenth of a second in which nothing else runs, and modules are there for ever."""
    looked_at: list[int] = []

    def collected(phase: str, info: dict[str, int]) -> None:
        if phase == "start" and info["generation"] == 2:
            looked_at.append(len(gc.get_objects()))

    modules = [[number] for number in range(400_000)]
    with short_collections(long_s=0.0):
        gc.callbacks.append(collected)
        try:
            kept = [{"of": [number]} for number in range(300_000)]
        finally:
            gc.callbacks.remove(collected)
    assert (len(kept), len(modules)) == (300_000, 400_000)
    assert len(looked_at) > 5
    assert max(looked_at) < 60_000
