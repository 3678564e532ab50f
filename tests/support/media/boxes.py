"""Reads several painted clocks from one recording: each in a box of the picture."""

from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from tests.support.media import painted
from tests.support.media.heard import RATE_HZ, heard


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
