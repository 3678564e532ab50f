"""A clip that carries its own clock (see tests/support/media/painted.py), encoded as publishers do."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from tests.support.media.painted import CLICK_MS, COLUMNS, ROWS, TICKS

RATE_HZ = 48_000
GAPS_MS = (387, 587, 443, 531)
FIRST_CLICK_MS = 1000
CLICK_S = 0.02


@dataclass(frozen=True)
class ClipEncoding:
    """What OBS sends unless somebody changes it: x264 veryfast, two B-frames, a key frame every 2 s, AAC."""

    width: int = 1280
    height: int = 720
    fps: int = 30
    key_frames_apart_s: float = 2.0
    b_frames: int = 2
    bitrate_kbps: int = 2500


def clicks_ms(duration_s: float) -> list[int]:
    """When the clip clicks, in milliseconds of its own clock."""
    times, at = [], FIRST_CLICK_MS
    while at < duration_s * 1000:
        times.append(at)
        at += GAPS_MS[len(times) % len(GAPS_MS)]
    return times


def make_clip(path: Path, duration_s: float, encoding: ClipEncoding = ClipEncoding()) -> Path:
    """Writes a clip; takes about a third of its duration in CPU time."""
    if path.exists():
        return path
    (path.parent / "audio.f32").write_bytes(_audio(duration_s).tobytes())
    keys = round(encoding.key_frames_apart_s * encoding.fps)
    bitrate = f"{encoding.bitrate_kbps}k"
    command = [
        *("ffmpeg", "-hide_banner", "-loglevel", "error", "-nostdin", "-y"),
        *("-f", "f32le", "-ar", str(RATE_HZ), "-ac", "1", "-i", str(path.parent / "audio.f32")),
        *("-f", "rawvideo", "-pix_fmt", "gray", "-s", f"{encoding.width}x{encoding.height}"),
        *("-r", str(encoding.fps), "-i", "pipe:0", "-pix_fmt", "yuv420p"),
        *("-c:v", "libx264", "-preset", "veryfast", "-bf", str(encoding.b_frames), "-profile:v", "high"),
        *("-g", str(keys), "-keyint_min", str(keys), "-sc_threshold", "0"),
        *("-b:v", bitrate, "-maxrate", bitrate, "-bufsize", bitrate),
        *("-c:a", "aac", "-b:a", "160k", "-ac", "2", "-f", "matroska", str(path)),
    ]
    command[command.index("pipe:0")] = "/dev/stdin"
    with subprocess.Popen(command, stdin=subprocess.PIPE) as process:
        assert process.stdin
        for frame in _frames(duration_s, encoding):
            process.stdin.write(frame)
        process.stdin.close()
        assert process.wait() == 0
    return path


def mp4_of(clip: Path, duration_s: float) -> bytes:
    """The first seconds of a clip as a file that browsers play."""
    with tempfile.TemporaryDirectory() as folder:
        mp4 = Path(folder, "clip.mp4")
        command = ["ffmpeg", "-loglevel", "error", "-nostdin", "-t", str(duration_s), "-i", str(clip)]
        subprocess.run([*command, "-c", "copy", str(mp4)], check=True)
        return mp4.read_bytes()


def _audio(duration_s: float) -> np.ndarray[tuple[int], np.dtype[np.float32]]:
    t = np.arange(round(duration_s * RATE_HZ)) / RATE_HZ
    samples = 0.2 * np.sin(2 * np.pi * 1000 * t)
    for click in clicks_ms(duration_s):
        begin = round(click / 1000 * RATE_HZ)
        end = min(len(t), begin + round(CLICK_S * RATE_HZ))
        samples[begin:end] += 0.7 * np.sin(2 * np.pi * 3000 * t[begin:end])
    return samples.astype(np.float32)


def _frames(duration_s: float, encoding: ClipEncoding) -> Iterator[bytes]:
    height, width, block = encoding.height, encoding.width, encoding.width // COLUMNS
    rng = np.random.default_rng(1)
    texture = (
        rng.integers(60, 200, (height // 16 + 1, width // 16 + 64), np.uint8).repeat(16, 0).repeat(16, 1)
    )
    noise = [rng.integers(0, 24, texture[:height, :width].shape, np.uint8) for _ in range(7)]
    clicks = clicks_ms(duration_s)
    for number in range(round(duration_s * encoding.fps)):
        now_ms = round(number * 1000 / encoding.fps)
        offset = number * 3 % 1024
        frame = texture[:height, offset : offset + width] + noise[number % len(noise)]
        clicked_ms = max((c for c in clicks if c <= now_ms), default=0)
        frame[: 3 * block, : COLUMNS * block] = clock_rows(block, now_ms, number * 2 % TICKS, clicked_ms)
        flash = any(c - 500 / encoding.fps <= now_ms < c + 1500 / encoding.fps for c in clicks)
        frame[height - height // 5 :] = 255 if flash else 0
        yield frame.tobytes()


def clock_rows(block: int, now_ms: int, tick: int, click_ms: int = 0) -> NDArray[np.uint8]:
    """Three rows of squares of this many pixels, black and white, which say what time it is."""
    rows = np.array(painted_bits(now_ms, tick, click_ms), np.uint8).reshape(ROWS, COLUMNS) * 255
    return rows.repeat(block, 0).repeat(block, 1)


def painted_bits(now_ms: int, tick: int, click_ms: int) -> list[int]:
    """The three rows of blocks, see images/demo/probe.html."""
    head = [1, 0, 1, 0, *_bits(now_ms, 44), *_bits(tick, 12)]
    last = _bits(click_ms % CLICK_MS, 28)
    return [*head, *_sums(head), *last, *_sums(last)]


def _bits(value: int, count: int) -> list[int]:
    return [value >> i & 1 for i in reversed(range(count))]


def _sums(bits: list[int]) -> list[int]:
    return [sum(bits[i::4]) % 2 for i in range(4)]
