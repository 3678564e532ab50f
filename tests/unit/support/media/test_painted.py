"""The reader of the probe page, on pictures and sounds made here."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from tests.support.media import painted


def parity(text: str) -> str:
    return "".join(str(sum(int(b) for b in text[i::4]) % 2) for i in range(4))


def frame(wall_ms: int, tick: int, width: int = 640, flash: bool = False, click_ms: int = 0) -> painted.Gray:
    """What the page paints."""
    size = width // painted.COLUMNS
    text = f"{0b1010:04b}{wall_ms:044b}{tick:012b}"
    click = f"{click_ms % painted.CLICK_MS:028b}"
    image = np.full((360, width), 60, np.uint8)
    for i, bit in enumerate(text + parity(text) + click + parity(click)):
        row, column = divmod(i, painted.COLUMNS)
        image[row * size : (row + 1) * size, column * size : (column + 1) * size] = 235 if bit == "1" else 16
    image[-72:] = 235 if flash else 16
    return image


@pytest.mark.parametrize("width", [640, 1280])
def test_a_frame_says_when_and_which_it_is(width: int) -> None:
    noise = np.random.default_rng(1).integers(-12, 12, (360, width))
    image = (frame(1_790_000_123_456, 4095, width).astype(int) + noise).clip(0, 255).astype(np.uint8)
    assert painted.read_frame(image) == painted.Painted(1_790_000_123_456, 4095)


def test_a_damaged_frame_says_nothing() -> None:
    image = frame(1_790_000_123_456, 17)
    image[:20, 100:120] = 255 - image[:20, 100:120]
    assert painted.read_frame(image) is None
    assert painted.read_frame(np.zeros((360, 640), np.uint8)) is None


@pytest.mark.parametrize(
    ("ticks", "percent"),
    [
        ([1, 2, 3, 4], 0),
        ([1, 2, 2, 4], 25),
        ([4094, 4095, 0, 1], 0),
        ([None, None, 3, 4], 50),
        ([7, 7, 7, 7], 75),
        ([None, None, None, None], 100),
    ],
    ids=["all", "one twice", "wrapped", "a damaged edge", "frozen", "unreadable"],
)
def test_missing_frames_are_counted(ticks: list[int | None], percent: float) -> None:
    seen = [None if tick is None else painted.Painted(0, tick) for tick in ticks]
    assert painted.missing_percent(seen, len(ticks)) == pytest.approx(percent)


def test_sound_and_picture_are_set_against_each_other() -> None:
    rate = 48_000
    t = np.arange(rate * 4) / rate
    sound = 0.2 * np.sin(2 * np.pi * 1000 * t)
    for second in (1, 2, 3):
        burst = (t >= second + 0.04) & (t < second + 0.06)
        sound[burst] += 0.7 * np.sin(2 * np.pi * 3000 * t[burst])
    samples = sound.astype(np.float32)
    assert painted.tone_hz(samples, rate) == pytest.approx(1000, abs=1)
    clicks = painted.click_times(samples, rate)
    times = [i / 30 for i in range(120)]
    frames = np.stack([frame(0, i, flash=i % 30 in (0, 1) and i >= 30) for i in range(120)])
    flashes = painted.flash_times(frames, times)
    assert flashes == pytest.approx([1, 2, 3])
    assert painted.av_offset_ms(clicks, flashes) == pytest.approx(40, abs=3)
    assert painted.av_offset_ms(clicks, []) is None


def test_a_frame_says_when_the_last_click_was() -> None:
    wall_ms = 1_790_000_123_456
    for click_ms in (wall_ms, wall_ms - 999, wall_ms - wall_ms % painted.CLICK_MS - 5):
        assert painted.read_frame(frame(wall_ms, 1, click_ms=click_ms)) == painted.Painted(
            wall_ms, 1, click_ms
        )


def test_the_distance_is_finer_than_a_frame() -> None:
    """Pictures are painted 5 to 20 ms before they are taken, sound is 7 ms late against that."""
    begin_ms, late_s = 1_790_000_000_000, 0.007
    rng = np.random.default_rng(1)
    times = [i / 30 for i in range(300)]
    clicks_ms = [begin_ms + 1000 * n + 13 for n in range(10)]
    seen: list[painted.Painted | None] = []
    for at in times:
        wall_ms = begin_ms + round(at * 1000 - 12.5 + rng.uniform(-7.5, 7.5))
        last = max((each for each in clicks_ms if each <= wall_ms), default=None)
        seen.append(painted.Painted(wall_ms, 0, last))
    heard = [(each - begin_ms + 12.5) / 1000 + late_s for each in clicks_ms]
    assert painted.av_distance_ms(heard, times, seen) == pytest.approx(7, abs=2)
    assert painted.av_distance_ms(heard, times, [painted.Painted(1, 1)]) is None


TWICE = (0.387, 0.587, 0.443, 0.531)
FOUR_TIMES = (0.29, 0.263, 0.183, 0.18, 0.177, 0.257, 0.27, 0.18, 0.347)


@pytest.mark.parametrize("gaps_s", [TWICE, FOUR_TIMES])
@pytest.mark.parametrize("late_ms", [-600.0, -12.0, 0.0, 20.0, 450.0])
def test_audio_that_is_far_off_is_not_taken_for_that_of_the_next_click(
    late_ms: float, gaps_s: tuple[float, ...]
) -> None:
    """Flashes are seen up to half a frame off; clicks are missed at the ends."""
    gaps = itertools.cycle(gaps_s)
    due = list(itertools.accumulate(itertools.islice(gaps, 20)))
    flashes = [math.ceil((each - 1 / 60) * 30) / 30 for each in due]
    clicks = [each + late_ms / 1000 for each in due[2:-1]]
    assert painted.av_offset_ms(clicks, flashes) == pytest.approx(late_ms, abs=5)


def test_clicks_without_their_flashes_tell_nothing() -> None:
    assert painted.av_offset_ms([1.0, 1.4, 2.0, 2.4], [1.0, 3.2, 4.1, 5.6]) is None
