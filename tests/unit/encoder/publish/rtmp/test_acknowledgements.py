"""What counts as progress of a server, however it acknowledges."""

from __future__ import annotations

import pytest

from onair_encoder.publish.rtmp.acknowledgements import SLACK_BYTES, Acknowledgements

WINDOW = 20_000


def acknowledged(interval: int, times: int) -> Acknowledgements:
    found = Acknowledgements(WINDOW)
    for number in range(1, times + 1):
        found.take(number * interval, number * interval)
    return found


@pytest.mark.parametrize("times", [0, 1, 2])
def test_a_server_without_a_habit_is_judged_by_its_tcp(times: int) -> None:
    found = acknowledged(WINDOW, times)
    assert found.progress(10**9) == 10**9
    assert not found.is_due(10**9)


@pytest.mark.parametrize(
    "totals", [[3_073] * 9, [0] * 9, [10, 20, 30, 40], [WINDOW, 2 * WINDOW, 2 * WINDOW + 9]]
)
def test_formalities_are_no_habit(totals: list[int]) -> None:
    found = Acknowledgements(WINDOW)
    for total in totals:
        found.take(total, 10 * WINDOW)
    assert found.progress(10**9) == 10**9
    assert not found.is_due(10**9)


def test_steps_of_half_the_window_are_a_habit() -> None:
    assert acknowledged(WINDOW // 2, 3).is_due(10**9)


@pytest.mark.parametrize("interval", [2_500_000, 5_000_000])
def test_a_server_that_acknowledges_rarely_makes_progress_in_between(interval: int) -> None:
    found = acknowledged(interval, 3)
    taken = [found.progress(3 * interval + more) for more in range(0, interval, interval // 10)]
    assert taken == sorted(set(taken))
    assert not found.is_due(4 * interval)


@pytest.mark.parametrize("interval", [WINDOW, 2_500_000])
def test_a_server_that_stops_acknowledging_is_found_out_though_its_tcp_goes_on(interval: int) -> None:
    found = acknowledged(interval, 8)
    most = 8 * interval + interval * 3 // 2 + SLACK_BYTES
    assert found.progress(10 * interval) == found.progress(100 * interval) == most
    assert found.is_due(most)


def test_a_burst_at_first_is_forgotten() -> None:
    found = Acknowledgements(WINDOW)
    for total in range(1_000_000, 1_000_000 + 9 * WINDOW, WINDOW):
        found.take(total, total)
    assert found.is_due(found.acknowledged + WINDOW * 3 // 2 + SLACK_BYTES)


@pytest.mark.parametrize("restart_at", [2**32, 0xF0000000])
def test_a_count_that_begins_again_goes_on(restart_at: int) -> None:
    found, written, step = Acknowledgements(WINDOW), 0, 0x01000000
    for _ in range(600):
        written += step
        found.take(written % restart_at, written)
        assert written - step <= found.acknowledged <= written + SLACK_BYTES
    assert found.is_due(found.acknowledged + step * 3 // 2 + SLACK_BYTES)


def test_a_server_that_acknowledges_what_was_not_sent_gets_nowhere() -> None:
    found = Acknowledgements(WINDOW)
    for total in (2**31, 2**32 - 1, 5, 2**31):
        found.take(total, 10_000)
    assert found.acknowledged <= 10_000 + SLACK_BYTES
