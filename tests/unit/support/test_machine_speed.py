"""Which failures may be the machine's."""

from __future__ import annotations

import pytest
from tests.support import machine_speed
from tests.support.machine_speed import failed_as_it_is_slow


@pytest.mark.parametrize("slow", [False, True])
def test_what_failed_is_a_machines_that_is_slow(slow: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine_speed, "is_slow", lambda: slow)
    assert failed_as_it_is_slow(AssertionError()) is slow


def test_nothing_is_measured_for_what_passed(monkeypatch: pytest.MonkeyPatch) -> None:
    """It takes longer than most tests."""
    monkeypatch.setattr(machine_speed, "is_slow", lambda: pytest.fail("it measures"))
    assert not failed_as_it_is_slow(None)
