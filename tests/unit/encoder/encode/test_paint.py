"""Captures keep to the clock that Chromium paints by."""

from __future__ import annotations

from fractions import Fraction

import pytest

from onair_encoder.encode.paint import (
    CAPTURE_MS,
    TICK_US,
    USUAL_PAINT_DELAY_MS,
    capture_age_ms,
    capture_phase_s,
    next_capture_s,
    paced_rate,
)

NTSC = Fraction(30000, 1001)


@pytest.mark.parametrize(("framerate", "ticks"), [(60, 1), (30, 2), (20, 3), (15, 4), (1, 60)])
def test_a_rate_that_divides_that_of_the_paints_is_captured_in_whole_ticks(
    framerate: int, ticks: int
) -> None:
    rate = paced_rate(Fraction(framerate))
    assert 1_000_000 / rate == TICK_US * ticks
    assert rate == pytest.approx(framerate, rel=1e-4)


@pytest.mark.parametrize("framerate", [NTSC, Fraction(24000, 1001), Fraction(25), Fraction(24), Fraction(50)])
def test_other_rates_meet_the_paints_in_every_phase(framerate: Fraction) -> None:
    rate = paced_rate(framerate)
    assert (1_000_000 / rate).denominator == 1, "captures are whole microseconds apart, and so are frames"
    assert rate == pytest.approx(framerate, rel=15e-6)
    assert capture_age_ms(123.4567, framerate, [20.0]) == pytest.approx(28.333)


@pytest.mark.parametrize("waited_us", [1, 8_000, TICK_US - 100])
@pytest.mark.parametrize("delay_ms", [2.5, 19.0, 36.0])
def test_a_capture_is_as_old_as_the_way_to_the_screen_and_the_wait_there(
    waited_us: int, delay_ms: float
) -> None:
    for tick in (7, 882_161, 5_000_000_000):
        capture_s = (tick * TICK_US + delay_ms * 1000 + waited_us) / 1e6
        age_ms = capture_age_ms(capture_s, Fraction(30), [delay_ms] * 18)
        assert age_ms == pytest.approx(delay_ms + waited_us / 1000, abs=0.02)


def test_paints_that_are_now_and_then_late_for_a_capture_are_seen_in_the_mean() -> None:
    capture_s = (7 * TICK_US + 20_000) / 1e6
    age_ms = capture_age_ms(capture_s, Fraction(30), [19.5, 20.5] * 8)
    assert 20 < age_ms < 20 + TICK_US / 1000


def test_a_few_frames_that_were_held_up_are_not_taken_for_what_is_usual() -> None:
    calm = capture_age_ms(1.0, Fraction(25), [19.0] * 16)
    assert capture_age_ms(1.0, Fraction(25), [19.0] * 14 + [80.0, 95.0]) == calm


def test_until_it_is_known_the_usual_is_taken() -> None:
    assert capture_age_ms(None, Fraction(30), []) == pytest.approx(USUAL_PAINT_DELAY_MS + 8.333)


@pytest.mark.parametrize("from_s", [0.0, 1.0, 12.345678, 86_400.5, 1e7 / 3])
def test_captures_are_due_where_a_paint_has_longest_been_on_the_screen(from_s: float) -> None:
    capture_s = next_capture_s(from_s)
    assert from_s - 1e-6 <= capture_s < from_s + TICK_US / 1e6
    assert capture_phase_s(capture_s) * 1000 == pytest.approx(CAPTURE_MS, abs=1e-3)
