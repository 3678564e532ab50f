"""Lists come in pages that are worked on in one go each."""

from __future__ import annotations

from onair_crds.kube.client import LARGEST_PAGE, PAGE_BYTES, SMALLEST_PAGE, next_page


def test_pages_of_large_objects_are_short_and_those_of_small_ones_long() -> None:
    assert next_page(100, PAGE_BYTES) == 100
    assert next_page(100, 10 * PAGE_BYTES) == SMALLEST_PAGE
    assert next_page(SMALLEST_PAGE, 1000 * PAGE_BYTES) == SMALLEST_PAGE
    assert next_page(100, PAGE_BYTES // 3) == 300
    assert next_page(LARGEST_PAGE, 0) == LARGEST_PAGE
