"""Guests whose cameras were encoded beforehand: they take next to nothing of the machine that is measured."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from tests.support.delivery.server_program import server_program
from tests.support.ingest.clip import clock_rows
from tests.support.media.painted import COLUMNS, TICKS

TICKS_APART = 2
BITRATE = "1M"
END_S = 5.0


def make_recording(path: Path, width: int, height: int, rate: int) -> Path:
    """Writes what a camera sees as VP8: bars that move below a painted clock.

    Its ticks go on where it begins again.

    Args:
        width: a multiple of 32.
        rate: frames per second; each second begins with a key frame.
    """
    command = [
        *("ffmpeg", "-loglevel", "error", "-nostdin", "-y", "-f", "rawvideo", "-pix_fmt", "yuv420p"),
        *("-s", f"{width}x{height}", "-r", str(rate), "-i", "/dev/stdin"),
        *("-c:v", "libvpx", "-deadline", "realtime", "-cpu-used", "8", "-b:v", BITRATE),
        *("-g", str(rate), "-f", "ivf", str(path)),
    ]
    bars = np.tile(np.arange(width, dtype=np.uint8), (height, 1))
    without_colour = bytes([128]) * (width * height // 2)
    with subprocess.Popen(command, stdin=subprocess.PIPE) as process:
        assert process.stdin
        for number in range(TICKS // TICKS_APART):
            luma = np.roll(bars, 4 * number, 1)
            clock = clock_rows(width // COLUMNS, round(number * 1000 / rate), TICKS_APART * number)
            luma[: len(clock), : clock.shape[1]] = clock
            process.stdin.write(luma.tobytes() + without_colour)
        process.stdin.close()
        assert process.wait() == 0
    return path


@contextmanager
def recorded_camera(url: str, token: str, recording: Path, *, insist_s: float) -> Iterator[None]:
    """Somebody is in a room with a camera, for as long as the context lasts.

    Args:
        insist_s: tries again for so long until it is let in.
    """
    deadline = time.monotonic() + insist_s
    while not _is_published(camera := _start(url, token, recording)):
        assert time.monotonic() < deadline, "the room does not let the camera in"
        time.sleep(0.2)
    try:
        yield
        assert camera.poll() is None, "the camera has left the room"
    finally:
        camera.terminate()
        camera.wait(END_S)


def _start(url: str, token: str, recording: Path) -> subprocess.Popen[str]:
    command: list[str | Path] = [server_program("room-camera"), url, recording]
    environment = {**os.environ, "ROOM_TOKEN": token}
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)


def _is_published(camera: subprocess.Popen[str]) -> bool:
    """Waits until it is, or has ended."""
    assert camera.stdout
    return bool(camera.stdout.readline()) or camera.wait() is None
