"""Captures keep to the clock that Chromium paints by."""

from __future__ import annotations

from fractions import Fraction

import pytest

from onair_encoder.encode.paint import ON_SCREEN_US, TICK_US, paced_rate, wait_ms

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
    assert wait_ms(123.4567, framerate) == pytest.approx(8.333)


@pytest.mark.parametrize("waited_us", [0, 1, 8_000, TICK_US - 1])
def test_a_stream_waits_equally_long_for_each_capture(waited_us: int) -> None:
    for tick in (7, 882_161, 5_000_000_000):
        capture_s = (tick * TICK_US + ON_SCREEN_US + waited_us) / 1e6
        assert wait_ms(capture_s, Fraction(30)) == pytest.approx(waited_us / 1000, abs=0.02)
