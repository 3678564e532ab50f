"""What a show's viewers get: frames of its RTMP stream, decoded as they come."""

from __future__ import annotations

import subprocess
import threading
import time
from collections import deque
from collections.abc import Callable
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

KEPT = 600
START_S = 30.0
BACKLOG_S = 2.0
"""A reader is first given what began before it."""


class Frame(NamedTuple):
    at: float
    """`time.time()` when it was decoded."""
    pixels: NDArray[np.uint8]
    """Gray, height × width."""


class FarEnd:
    """Decodes a stream in the background. Use as a context manager."""

    def __init__(self, url: str, width: int = 64, height: int = 36) -> None:
        self._url, self._width, self._height = url, width, height
        self.frames: deque[Frame] = deque(maxlen=KEPT)
        self._came = threading.Condition()
        self._thread = threading.Thread(target=self._read, daemon=True)

    def __enter__(self) -> Self:
        command = [
            *("ffmpeg", "-loglevel", "fatal", "-nostdin", "-fflags", "nobuffer", "-flags", "low_delay"),
            *("-probesize", "50000", "-analyzeduration", "0", "-threads", "1", "-i", self._url, "-an"),
            *("-fps_mode", "passthrough", "-vf", f"scale={self._width}:{self._height}:flags=area"),
            *("-f", "rawvideo", "-pix_fmt", "gray", "-"),
        ]
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE)
        self._thread.start()
        first = self.wait(lambda _: True, time.time(), START_S)
        self.wait(lambda _: True, first + BACKLOG_S, START_S)
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait()
        self._thread.join()

    def _read(self) -> None:
        assert self._process.stdout
        size = self._width * self._height
        while len(raw := self._process.stdout.read(size)) == size:
            pixels = np.frombuffer(raw, np.uint8).reshape(self._height, self._width)
            with self._came:
                self.frames.append(Frame(time.time(), pixels))
                self._came.notify_all()

    def wait(
        self, shows: Callable[[NDArray[np.uint8]], bool], since: float, timeout_s: float = 10.0
    ) -> float:
        """Waits for a frame that shows something; returns when it was decoded.

        Args:
            since: `time.time()` from which on frames count.
        """
        deadline = time.monotonic() + timeout_s
        with self._came:
            while True:
                for frame in self.frames:
                    if frame.at >= since and shows(frame.pixels):
                        return frame.at
                assert self._came.wait(deadline - time.monotonic()), "not seen at the far end"

    def since(self, at: float) -> list[Frame]:
        """The frames that were decoded from then on."""
        with self._came:
            return [frame for frame in self.frames if frame.at >= at]
