"""By how much a clock is off is told by times that are cut to seconds, of writes that took a while."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pytest

from onair_crds.shapes import Document
from onair_operator.cluster.clock_check import ClockCheck

NOON = dt.datetime(2026, 5, 1, 12, tzinfo=dt.UTC)
RENEWAL: Document = {"f:spec": {"f:renewTime": {}, "f:holderIdentity": {}}}


def lease(*entries: tuple[str | None, Any]) -> Document:
    return {"metadata": {"managedFields": [{"time": time, "fieldsV1": owned} for time, owned in entries]}}


@pytest.mark.parametrize(
    ("written", "ahead_s"),
    [
        ("2026-05-01T11:59:58Z", 1.0),
        ("2026-05-01T11:59:59Z", 0.0),
        ("2026-05-01T12:00:00Z", 0.0),
        ("2026-05-01T12:00:05Z", 0.0),
        ("2026-05-01T12:00:06Z", -1.0),
        ("2026-05-01T13:00:05Z", -3600.0),
        ("2026-05-01T10:59:59Z", 3600.0),
    ],
)
def test_a_write_is_as_old_as_it_may_be(written: str, ahead_s: float) -> None:
    clock = ClockCheck(lambda: NOON + dt.timedelta(seconds=5))
    clock.compare(lease((written, RENEWAL)), NOON)
    assert clock.ahead_s == ahead_s
    assert clock.is_right() is (abs(ahead_s) <= 60)


def test_only_the_write_of_the_renewal_counts() -> None:
    clock = ClockCheck(lambda: NOON)
    label: Document = {"f:metadata": {"f:labels": {}}}
    clock.compare(lease(("2026-05-01T09:00:00Z", label), ("2026-05-01T12:00:00Z", RENEWAL)), NOON)
    assert clock.is_right()


@pytest.mark.parametrize("document", [{"metadata": {}}, lease((None, RENEWAL)), lease((None, None))])
def test_where_nothing_is_said_nothing_is_wrong(document: Document) -> None:
    clock = ClockCheck(lambda: NOON)
    clock.compare(lease(("2026-05-01T10:00:00Z", RENEWAL)), NOON)
    assert not clock.is_right()
    clock.compare(document, NOON)
    assert clock.is_right()
