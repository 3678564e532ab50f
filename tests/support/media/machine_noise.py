"""Measures how late a small periodic task is: what other load takes from a stream beside it."""

from __future__ import annotations

import threading
import time
from typing import Self

FRAME_S = 1 / 30
WORK_S = 0.004
"""CPU time of a tick, a fraction of what a frame costs."""


class MachineNoise:
    """Use as a context manager around what is measured. Takes an eighth of a core."""

    def __init__(self) -> None:
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._ticks = self._late = 0

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ending.set()
        self._thread.join()

    @property
    def late_percent(self) -> float:
        """Percent of ticks that ended later than the next was due: on an idle machine none."""
        return 100 * self._late / max(self._ticks, 1)

    def _run(self) -> None:
        due = time.monotonic()
        while not self._ending.wait(max(0.0, due - time.monotonic())):
            worked_until = time.thread_time() + WORK_S
            while time.thread_time() < worked_until:
                pass
            self._ticks += 1
            self._late += time.monotonic() > due + FRAME_S
            due = max(due + FRAME_S, time.monotonic())
