"""The programme's clock on the machine's."""

from __future__ import annotations

from itertools import pairwise

import pytest

from onair_crds.room_publisher.clock import HOLD_US, ProgramClock, Steps


def test_the_clock_follows_the_least_late_packet_gently() -> None:
    clock = ProgramClock()
    start_us = 50_000_000
    lateness = [
        clock.arrived(ms, start_us + ms * 1000 + late) for ms, late in ((0, 9000), (20, 0), (40, 5000))
    ]
    assert lateness[0] == 0
    assert clock.due_us(1000, 0) == pytest.approx(start_us + 1_000_000 + HOLD_US, abs=9000)
    for ms in range(60, 600, 20):
        clock.arrived(ms, start_us + ms * 1000)
    assert clock.due_us(1000, 0) == start_us + 1_000_000 + HOLD_US


def test_the_clock_leaps_where_the_programme_does() -> None:
    clock = ProgramClock()
    clock.arrived(0, 1_000_000)
    clock.arrived(10_000, 2_000_000)
    assert clock.due_us(10_000, 0) == 2_000_000 + HOLD_US


def test_chunks_of_audio_come_in_even_steps() -> None:
    steps = Steps(10_000)
    wanted = [1_000_000 + n * 10_000 + (5000 if n % 2 else 0) for n in range(40)]
    times = [steps.next_us(each) for each in wanted]
    assert all(9_500 < after - before < 10_500 for before, after in pairwise(times))
    assert steps.next_us(9_000_000) == 9_000_000
