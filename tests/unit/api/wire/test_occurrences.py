"""How often a byte is in JSON."""

from __future__ import annotations

import pytest

from onair_api.wire.occurrences import FEW, count, count_up_to


@pytest.mark.parametrize("times", [0, 1, FEW - 1, FEW, FEW + 1, 1000])
@pytest.mark.parametrize("between", [b"", b"text"])
def test_all_are_counted(times: int, between: bytes) -> None:
    data = between + (b"," + between) * times
    assert count(data, b",") == times
    assert count(data, b"[") == 0


@pytest.mark.parametrize(("times", "found"), [(0, 0), (2, 2), (3, 3), (4, 3)])
def test_no_more_are_counted_than_are_enough(times: int, found: int) -> None:
    assert count_up_to(b"[" * times, b"[", 3) == found
