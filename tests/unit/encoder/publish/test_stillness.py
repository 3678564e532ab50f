"""How long a peer was still, by a process that may itself have paused."""

from __future__ import annotations

import pytest

from onair_encoder.publish.stillness import Stillness


def test_time_without_progress_adds_up() -> None:
    stillness = Stillness(0.5, 10.0)
    assert [stillness.look(at, progress=False) for at in (10.25, 10.5, 11.0)] == [0.25, 0.5, 1.0]


def test_progress_begins_it_again() -> None:
    stillness = Stillness(0.5, 10.0)
    stillness.look(10.5, progress=False)
    assert stillness.look(11.0, progress=True) == 0.0
    assert stillness.look(11.5, progress=False) == 0.5


@pytest.mark.parametrize("pause_s", [1.0, 60.0])
def test_a_pause_of_this_process_is_not_the_peers(pause_s: float) -> None:
    stillness = Stillness(0.5, 10.0)
    assert stillness.look(10.0 + pause_s, progress=False) == 0.5
    assert stillness.look(10.0 + pause_s + 0.5, progress=False) == 1.0
