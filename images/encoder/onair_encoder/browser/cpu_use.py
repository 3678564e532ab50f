"""What the kernel knows of the browser's CPU, and where it lets its threads run."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from pathlib import Path
from typing import NamedTuple

from onair_encoder.browser.bounds import CGROUP

PROC = Path("/proc")
MAX_PASSES = 10
"""Two are enough, but for threads that are being started by ones that were not found before."""


def used_s() -> float | None:
    """CPU time that the container has taken; None if nobody counts it. cgroup v2, else v1."""
    try:
        lines = (CGROUP / "cpu.stat").read_text().splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith("usage_usec ")) / 1e6
    except (OSError, StopIteration):
        pass
    try:
        return int((CGROUP / "cpuacct/cpuacct.usage").read_text()) / 1e9
    except OSError:
        return None


def threads(session: int) -> Iterator[tuple[int, int]]:
    """Processes and threads of all that one program has started, itself included."""
    for folder in PROC.iterdir():
        with contextlib.suppress(OSError):  # ended meanwhile
            if folder.name.isdigit() and os.getsid(int(folder.name)) == session:
                for thread in (folder / "task").iterdir():
                    yield int(folder.name), int(thread.name)


class CpuTime(NamedTuple):
    """CPU seconds of one thread since its start, or of a process within a second."""

    ran: float
    wanted: float
    """In which it ran, or waited to run."""


def thread_times(session: int) -> dict[tuple[int, int], CpuTime]:
    """Seconds of each thread, by its process and itself; none if the kernel does not say."""
    found: dict[tuple[int, int], CpuTime] = {}
    for process, thread in threads(session):
        with contextlib.suppress(OSError):  # ended meanwhile
            ran_ns, waited_ns, _ = (PROC / f"{process}/task/{thread}/schedstat").read_text().split()
            found[process, thread] = CpuTime(int(ran_ns) / 1e9, (int(ran_ns) + int(waited_ns)) / 1e9)
    return found


def bind(session: int, cpus: AbstractSet[int]) -> None:
    """Has every thread run only on these CPUs; threads that they start do so by themselves."""
    bound: set[int] = set()
    for _ in range(MAX_PASSES):
        found = {thread for _, thread in threads(session)} - bound
        if not found:
            return
        for thread in found:
            with contextlib.suppress(OSError):  # ended meanwhile
                if os.sched_getaffinity(thread) != cpus:
                    os.sched_setaffinity(thread, cpus)
        bound |= found
