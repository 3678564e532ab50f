"""Reads several painted clocks from one recording: each in a box of the picture."""

from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from tests.support.media import painted
from tests.support.media.heard import RATE_HZ, heard

NEAR_MS = 500
"""From one clock that was read to the next."""


@dataclass(frozen=True)
class Box:
    """Where a clock is in the picture; its width is a multiple of 32."""

    x: int
    y: int
    width: int


def clock_of(recording: Path, box: Box) -> list[painted.Painted | None]:
    """What is painted in a box on each frame."""
    height = box.width // painted.COLUMNS * painted.ROWS
    crop = f"crop={box.width}:{height}:{box.x}:{box.y}"
    raw = _output(
        *("ffmpeg", "-loglevel", "fatal", "-nostdin", "-i", str(recording), "-map", "0:v:0", "-vf", crop),
        *("-fps_mode", "passthrough", "-f", "rawvideo", "-pix_fmt", "gray", "-"),
    )
    frames = np.frombuffer(raw, np.uint8).reshape(-1, height, box.width)
    return [painted.read_frame(frame) for frame in frames]


def moving_clock_of(
    recording: Path, box: Box, frames: slice, seen: list[painted.Painted | None]
) -> list[painted.Painted | None]:
    """What is painted on each of these frames, by a clock that may have moved down or up from its box.

    Args:
        seen: what the box showed on each frame of the recording. What is found is near in time to what it
            showed last, so that nothing else is taken for a clock.
    """
    chosen = f"select='between(n,{frames.start},{frames.stop - 1})',crop={box.width}:ih:{box.x}:0"
    raw = _output(
        *("ffmpeg", "-loglevel", "fatal", "-nostdin", "-i", str(recording), "-map", "0:v:0", "-vf", chosen),
        *("-fps_mode", "passthrough", "-f", "rawvideo", "-pix_fmt", "gray", "-"),
    )
    columns = np.frombuffer(raw, np.uint8).reshape(frames.stop - frames.start, -1, box.width)
    block = box.width // painted.COLUMNS
    last = next(each for each in reversed(seen[: frames.start]) if each)
    found = []
    for column in columns:
        tops = range(0, len(column) - painted.ROWS * block + 1, max(1, block // 5))
        read = (painted.read_frame(column[top:]) for top in tops)
        now = next((each for each in read if each and 0 <= each.wall_ms - last.wall_ms < NEAR_MS), None)
        found.append(now)
        last = now or last
    return found


def frame_times_s(recording: Path) -> list[float]:
    """When each frame is shown."""
    return _times_s(recording, "v:0")


def click_times_s(recording: Path) -> list[float]:
    """When bursts of 3 kHz are heard."""
    first_s, samples = heard(recording)
    return [first_s + at for at in painted.click_times(samples, RATE_HZ)]


def _times_s(recording: Path, stream: str) -> list[float]:
    entries = ("-show_entries", "packet=pts_time", "-of", "json")
    text = _output("ffprobe", "-v", "error", "-select_streams", stream, *entries, str(recording))
    return sorted(float(each["pts_time"]) for each in json.loads(text)["packets"])


def _output(*command: str) -> bytes:
    return subprocess.run(command, check=True, capture_output=True, timeout=120).stdout
