"""Pauses between attempts."""

from __future__ import annotations

from onair_crds.backoff import backoff_s


def test_pauses_grow_to_the_longest_and_never_overflow() -> None:
    assert [backoff_s(failures, 1.0, 30.0) for failures in (0, 1, 2, 5, 2000)] == [1, 2, 4, 30, 30]
