"""The bitrate by a count of bytes."""

from __future__ import annotations

import time

import pytest

from onair_encoder.agent.bitrate import BitrateMeter


def test_a_bitrate_is_of_at_least_a_second(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 100.0
    monkeypatch.setattr(time, "monotonic", lambda: now)
    meter = BitrateMeter()
    assert meter.bps(5000) == 0
    now = 100.9
    assert meter.bps(100_000) == 0, "not a second yet"
    now = 102.0
    assert meter.bps(250_000) == 1_000_000
    now = 102.5
    assert meter.bps(900_000) == 1_000_000, "the last one, until another second has passed"
    now = 104.0
    assert meter.bps(250_000) == 0, "nothing came"
