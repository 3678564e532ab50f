"""What a soak must not exceed. Pure; a minute shows less than an hour, and is judged by what it can show."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

FRAMERATE = 30
FLAP_S = 15.0
"""How long the flapping link is up between two cuts."""
WARM_UP_S = 40.0
"""Caches fill and the first back-offs run out before growth is judged."""
SHORT_WARM_UP_S = 15.0
SHORT_S = 200.0
"""A run that is shorter has the shorter warm-up, and less room to grow."""
GROWTH = 0.05
GROWTH_MB, GROWTH_FILES = 12, 4
SHORT_GROWTH_MB = 8
"""In all: a minute shows a leak of 15 MB a minute, and noise of 3 MB."""
BROWSER_PLATEAU_MB = 265.0
"""Chromium's heap comes to 250 MB in five minutes and settles at 253: a long run judges its growth."""
SETTLED_S = 1800.0
OFFSET_DRIFT_MS = 40.0
"""Between medians of recordings, which are precise to some milliseconds each, by the clock on the frames."""
OFFSET_MAX_MS = 125.0
"""How late audio may be before viewers object (ITU-R BT.1359)."""


@dataclass(frozen=True)
class Sample:
    at_s: float
    encoder_mb: float
    browser_mb: float
    agent_files: int
    frames: float
    sessions: dict[str, float]
    connected: dict[str, float]


@dataclass(frozen=True)
class Offset:
    """Audio minus video, in the median of a recording's clicks."""

    at_s: float
    ms: float


def warm_up_s(length_s: float) -> float:
    return WARM_UP_S if length_s >= SHORT_S else SHORT_WARM_UP_S


def assert_in_sync(offsets: Sequence[Offset], length_s: float) -> None:
    """Audio and video neither drift apart nor are apart."""
    warm = [each.ms for each in offsets if each.at_s > warm_up_s(length_s)]
    assert len(warm) >= 2, "too few recordings"
    third = max(1, len(warm) // 3)
    early, late = statistics.median(warm[:third]), statistics.median(warm[-third:])
    print(
        f"\nA/V offset {early:+.0f} → {late:+.0f} ms over {offsets[-1].at_s:.0f} s,"
        f" from {min(warm):+.0f} to {max(warm):+.0f}"
    )
    assert abs(late - early) < OFFSET_DRIFT_MS, "audio and video drift apart"
    assert max(abs(each) for each in warm) < OFFSET_MAX_MS, "audio and video are apart"


def assert_steady(samples: Sequence[Sample], steady: Sequence[str], flapping: str) -> None:
    """Nothing grows, frames come at their rate, and the flapping destination alone reconnects.

    Args:
        steady: destinations whose first session is their only one.
    """
    end = samples[-1]
    assert_no_growth(samples)
    assert {name: end.sessions[name] for name in steady} == dict.fromkeys(steady, 1)
    least = 1 + (end.at_s - warm_up_s(end.at_s)) / (FLAP_S * 4)
    assert end.sessions[flapping] >= math.ceil(least), "the flapping one reconnects"
    warm = next(each for each in samples if each.at_s > warm_up_s(end.at_s))
    framerate = (end.frames - warm.frames) / (end.at_s - warm.at_s)
    assert abs(framerate - FRAMERATE) <= 0.03 * FRAMERATE, f"{framerate:.1f} frames a second"


def assert_no_growth(samples: Sequence[Sample]) -> None:
    length_s = samples[-1].at_s
    long_run = length_s > 1.5 * SETTLED_S
    begin_s = SETTLED_S if long_run else warm_up_s(length_s)
    warm = [each for each in samples if each.at_s > begin_s]
    third = max(1, len(warm) // 3)
    for name in ("encoder_mb", "browser_mb", "agent_files"):
        early = sorted(getattr(each, name) for each in warm[:third])[third // 2]
        late = sorted(getattr(each, name) for each in warm[-third:])[third // 2]
        print(f"{name}: {early:.0f} → {late:.0f}")
        most = early + _room(name, early, length_s)
        if name == "browser_mb" and not long_run:
            most = max(most, BROWSER_PLATEAU_MB)
        assert late <= most, f"{name} grows"


def _room(name: str, early: float, length_s: float) -> float:
    """How much more there may be at the end."""
    if name == "agent_files":
        return early * GROWTH + GROWTH_FILES
    return SHORT_GROWTH_MB if length_s < SHORT_S else early * GROWTH + GROWTH_MB
