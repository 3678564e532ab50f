"""Decodes what images/demo/probe.html paints and plays. Pure: arrays in, numbers out."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

COLUMNS = 32
ROWS = 3
CLICK_MS = 2**28
"""The modulus of a click's time."""
TICKS = 4096
FARTHEST_MS = 1000.0
"""Audio and video that are further apart are not compared."""
FIT_MS = 34.0
"""A flash is seen up to a frame off, and less than the gaps between clicks differ."""

Gray = NDArray[np.uint8]
Samples = NDArray[np.float32]


@dataclass(frozen=True)
class Painted:
    """What is painted on one frame."""

    wall_ms: int
    tick: int
    click_ms: int | None = None
    """When the last click was to be heard, on the clock of `wall_ms`; None where it is not painted."""


def read_frame(frame: Gray) -> Painted | None:
    """Decodes the blocks of a gray frame (height × width, uint8); None where they make no sense."""
    size = frame.shape[1] // COLUMNS
    margin = max(1, size // 4)
    blocks = frame[: ROWS * size, : COLUMNS * size].reshape(ROWS, size, COLUMNS, size)
    inner = blocks[:, margin : size - margin, :, margin : size - margin]
    bits = (inner.mean(axis=(1, 3)) > 127).astype(int).ravel()
    if list(bits[:4]) != [1, 0, 1, 0]:
        return None
    if any(bits[:60].reshape(15, 4).sum(axis=0) % 2 != bits[60:64]):
        return None
    wall_ms = _number(bits[4:48])
    return Painted(wall_ms, _number(bits[48:60]), _click_ms(bits[64:], wall_ms))


def _click_ms(bits: NDArray[np.int_], wall_ms: int) -> int | None:
    painted_ms = _number(bits[:28])
    if not painted_ms or any(bits[:28].reshape(7, 4).sum(axis=0) % 2 != bits[28:]):
        return None
    return wall_ms - (wall_ms - painted_ms) % CLICK_MS


def _number(bits: NDArray[np.int_]) -> int:
    return int("".join(map(str, bits)), 2)


def missing_percent(seen: list[Painted | None], nominal: int) -> float:
    """How many of the nominal frames of a window brought nothing new, in percent.

    `seen` is what is painted on each frame of the window, None where it could not be
    decoded; `nominal` is window × frame rate, so a frozen frame or a damaged
    edge counts. The page ticks twice a frame: each frame has a tick of its own.
    """
    read = [painted for painted in seen if painted]
    if not read or nominal < 1:
        return 100.0
    return 100.0 * max(0, nominal - len({painted.tick for painted in read})) / nominal


def skipped_percent(seen: list[Painted | None], ticks_apart: int = 2) -> float:
    """How many of a slower camera's frames are not seen, of those from the first to the last; in percent."""
    ticks = [painted.tick for painted in seen if painted]
    steps = [(after - before) % TICKS / ticks_apart for before, after in pairwise(ticks) if after != before]
    return 100.0 * sum(step - 1 for step in steps) / sum(steps) if steps else 100.0


def flash_times(frames: NDArray[np.uint8], times_s: list[float]) -> list[float]:
    """When the band at the bottom turns white; frames × height × width."""
    height = frames.shape[1]
    band = frames[:, height - height // 6 : height - height // 30].mean(axis=(1, 2)) > 127
    rises = np.flatnonzero(band[1:] & ~band[:-1]) + 1
    return [times_s[i] for i in rises]


def click_times(samples: Samples, rate_hz: int) -> list[float]:
    """When bursts of 3 kHz begin, in seconds from the first sample."""
    window = rate_hz // 500
    usable = len(samples) - len(samples) % window
    t = np.arange(usable) / rate_hz
    for_3k = samples[:usable] * np.exp(-2j * np.pi * 3000 * t)
    level = np.abs(for_3k.reshape(-1, window).mean(axis=1))
    if not len(level) or level.max() < 0.02:
        return []
    loud = level > level.max() / 2
    rises = np.flatnonzero(loud[1:] & ~loud[:-1]) + 1
    return [float(i) * window / rate_hz for i in rises]


def tone_hz(samples: Samples, rate_hz: int) -> float:
    """The strongest frequency."""
    spectrum = np.abs(np.fft.rfft(samples * np.hanning(len(samples))))
    return float(np.argmax(spectrum) * rate_hz / len(samples))


def av_offset_ms(clicks: list[float], flashes: list[float]) -> float | None:
    """Median of audio minus video: positive where the audio is late; None where they do not fit."""
    return _distance_ms([click * 1000 for click in clicks], [flash * 1000 for flash in flashes])


def av_distance_ms(clicks: list[float], times_s: list[float], seen: list[Painted | None]) -> float | None:
    """Audio minus video, precise to some milliseconds; positive where audio is late, None where unknown.

    A flash is seen with the next frame, so that each is precise to a frame at best; what frames show of the
    clock they were painted by needs no more than one click.

    Args:
        clicks: when they are heard, in seconds of the stream.
        times_s: of the frames, in seconds of the stream.
        seen: what is painted on each frame.
    """
    known = [(at, painted) for at, painted in zip(times_s, seen, strict=False) if painted]
    due = {painted.click_ms for _, painted in known if painted.click_ms is not None}
    if not due:
        return None
    video_ms = float(np.median([at * 1000 - painted.wall_ms for at, painted in known]))
    return _distance_ms([click * 1000 for click in clicks], [video_ms + each for each in due])


def _distance_ms(heard: list[float], seen: list[float]) -> float | None:
    """By how much one series is later than the other: the distance that most of its members have in common.

    The gaps between clicks differ, so a series that is a whole gap off fits nowhere else.
    """
    pairs = np.subtract.outer(heard, seen)
    candidates = pairs[np.abs(pairs) < FARTHEST_MS]
    if not candidates.size:
        return None
    candidates = candidates[np.argsort(np.abs(candidates))]
    fits = np.abs(pairs[:, :, None] - candidates) < FIT_MS
    common = candidates[np.argmax(fits.any(axis=1).sum(axis=0))]
    together = pairs[np.abs(pairs - common) < FIT_MS]
    return float(np.median(together)) if len(together) >= min(len(heard), len(seen)) / 2 else None
