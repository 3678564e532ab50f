"""How fast a core of this machine is at the moment, which on a shared one changes within minutes."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time

STEPS = 1_000_000
ROUNDS, BUSY_ROUNDS = 3, 7
SLOW_FROM_S = 0.125
"""Of CPU time. From here on two browsers or encoders in real time do not fit beside each other: at 0.135 to
0.17 s frames were late, and starts were given up. At its best the same machine takes 0.075 s, another
0.03 s."""
LATE_FROM_S = 0.09
"""From here on they fit, and single frames are late: nine tests of 9,045 failed on a machine 1.4 times
as slow as one of 0.075 s."""


def work_s() -> float:
    """CPU time that a fixed piece of work takes: what else runs here is not in it, a slow core is."""
    began_s, total = time.thread_time(), 0
    for step in range(STEPS):
        total += step * step
    return time.thread_time() - began_s


def is_slow(from_s: float = SLOW_FROM_S) -> bool:
    """Takes some tenths of a second."""
    return min(work_s() for _ in range(ROUNDS)) >= from_s


def busy_work_s() -> float:
    """The same while all cores are busy, as in tests in real time: some share what they compute with.

    It is the median, as CPU time goes by nothing else that runs here, and such cores are fast at one moment
    and slow at the next.
    """
    others = [
        subprocess.Popen([sys.executable, "-c", "while True: pass"])
        for _ in range(len(os.sched_getaffinity(0)) - 1)
    ]
    try:
        return statistics.median(work_s() for _ in range(BUSY_ROUNDS))
    finally:
        for each in others:
            each.kill()
            each.wait()


def failed_as_it_is_slow(error: BaseException | None) -> bool:
    """
    Args:
        error: of a test; None: it has passed, so nothing is measured. This is asked after every test.
    """
    return error is not None and busy_work_s() >= LATE_FROM_S
