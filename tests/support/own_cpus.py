"""Gives programs of a test CPUs of their own, as if they were on computers of their own."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def kept_apart(*here: str) -> Iterator[bool]:
    """Has this process, and those below it with one of these words in their command, on half of its CPUs.

    All others below it are on the rest, also those that they start meanwhile.

    Yields:
        whether it is so: one CPU cannot be divided.
    """
    cpus = sorted(os.sched_getaffinity(0))
    first, rest = cpus[: len(cpus) // 2], cpus[len(cpus) // 2 :]
    if not first:
        yield False
        return
    chosen = {pid: first if _is_one_of(pid, here) else rest for pid in _descendants(os.getpid())}
    chosen[os.getpid()] = first
    before = {pid: _pin(pid, wanted) for pid, wanted in chosen.items()}
    try:
        yield True
    finally:
        for pid, were in before.items():
            _pin(pid, were)


def _is_one_of(pid: int, words: tuple[str, ...]) -> bool:
    try:
        command = Path(f"/proc/{pid}/cmdline").read_text()
    except OSError:
        return False
    return any(word in command for word in words)


def _descendants(pid: int) -> Iterator[int]:
    for listed in Path(f"/proc/{pid}/task").glob("*/children"):
        with contextlib.suppress(OSError):
            for child in map(int, listed.read_text().split()):
                yield child
                yield from _descendants(child)


def _pin(pid: int, cpus: list[int]) -> list[int]:
    """Returns the CPUs that it had; none where it has ended."""
    had: list[int] = []
    for thread in Path(f"/proc/{pid}/task").glob("*"):
        with contextlib.suppress(OSError):
            had = sorted(os.sched_getaffinity(int(thread.name)))
            os.sched_setaffinity(int(thread.name), cpus)
    return had
