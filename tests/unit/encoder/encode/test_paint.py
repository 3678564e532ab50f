"""Captures keep to the clock that Chromium paints by."""

from __future__ import annotations

from fractions import Fraction

import pytest

from onair_encoder.encode.paint import (
    LAST_MS,
    Paints,
    capture_age_ms,
    capture_phase_s,
    next_capture_s,
    paced_rate,
    paints_per_frame,
    reduced_tick_us,
    tick_us,
)

NTSC = Fraction(30000, 1001)
TICK_US = tick_us(Fraction(30))


@pytest.mark.parametrize(
    ("framerate", "paints", "us"),
    [
        (Fraction(60), 1, 16_667),
        (Fraction(50), 1, 20_000),
        (Fraction(30), 2, 16_667),
        (NTSC, 2, 16_683),
        (Fraction(25), 2, 20_000),
        (Fraction(24), 2, 20_833),
        (Fraction(24000, 1001), 2, 20_854),
        (Fraction(20), 3, 16_667),
        (Fraction(15), 4, 16_667),
        (Fraction(10), 5, 20_000),
        (Fraction(1), 46, 21_739),
    ],
)
def test_each_frame_is_a_whole_number_of_paints(framerate: Fraction, paints: int, us: int) -> None:
    assert (paints_per_frame(framerate), tick_us(framerate)) == (paints, us)
    rate = paced_rate(framerate)
    assert 1_000_000 / rate == us * paints, "captures are whole microseconds apart, and so are frames"
    assert rate == pytest.approx(framerate, rel=4e-5)
    assert tick_us(rate) == us, "ffmpeg is told the rate that it captures at"


@pytest.mark.parametrize(
    ("framerate", "us"),
    [
        (Fraction(60), 16_667),
        (Fraction(30), 33_334),
        (NTSC, 33_366),
        (Fraction(25), 40_000),
        (Fraction(24000, 1001), 41_708),
        (Fraction(20), 16_667),
        (Fraction(15), 33_334),
        (Fraction(10), 20_000),
        (Fraction(1), 43_478),
    ],
)
def test_fewer_paints_are_whole_paints_apart_and_as_frames_are(framerate: Fraction, us: int) -> None:
    assert reduced_tick_us(framerate) == us
    assert us % tick_us(framerate) == 0
    assert tick_us(framerate) * paints_per_frame(framerate) % us == 0


@pytest.mark.parametrize("waited_us", [1, 8_000, TICK_US - 100])
@pytest.mark.parametrize("delay_ms", [2.5, 19.0, 36.0])
def test_a_capture_is_as_old_as_the_way_to_the_screen_and_the_wait_there(
    waited_us: int, delay_ms: float
) -> None:
    for tick in (7, 882_161, 2_500_000_000):
        capture_s = (tick * TICK_US + delay_ms * 1000 + waited_us) / 1e6
        age_ms = capture_age_ms(capture_s, Fraction(30), Paints(TICK_US, (delay_ms,) * 18))
        assert age_ms == pytest.approx(delay_ms + waited_us / 1000, abs=0.02)


def test_paints_that_are_now_and_then_late_for_a_capture_are_seen_in_the_mean() -> None:
    capture_s = (7 * TICK_US + 20_000) / 1e6
    age_ms = capture_age_ms(capture_s, Fraction(30), Paints(TICK_US, (19.5, 20.5) * 8))
    assert 20 < age_ms < 20 + TICK_US / 1000


def test_a_few_frames_that_were_held_up_are_not_taken_for_what_is_usual() -> None:
    calm = capture_age_ms(1.0, Fraction(25), Paints(20_000, (19.0,) * 16))
    assert capture_age_ms(1.0, Fraction(25), Paints(20_000, (19.0,) * 14 + (80.0, 95.0))) == calm


def test_until_it_is_known_the_usual_is_taken() -> None:
    """The middle between a paint that is late and one that is not; a capture that is due when it best is."""
    assert capture_age_ms(None, Fraction(30), Paints(TICK_US)) == pytest.approx(13.967 + 16.667 / 2, abs=1e-3)


@pytest.mark.parametrize("framerate", [Fraction(60), Fraction(30), Fraction(25), NTSC])
@pytest.mark.parametrize("from_s", [0.0, 1.0, 12.345678, 86_400.5, 1e7 / 3])
def test_captures_are_due_where_a_paint_has_longest_been_on_the_screen(
    from_s: float, framerate: Fraction
) -> None:
    capture_s = next_capture_s(from_s, framerate)
    assert from_s - 1e-6 <= capture_s < from_s + reduced_tick_us(framerate) / 1e6
    for tick in (tick_us(framerate), reduced_tick_us(framerate)):
        phase_ms = capture_phase_s(capture_s, tick) * 1000
        assert phase_ms == pytest.approx(tick / 1000 - LAST_MS, abs=1e-3), "at both rates of paints"
