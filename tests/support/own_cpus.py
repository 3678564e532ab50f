"""Gives a program of a test CPUs of its own, as if all others were on other computers."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from tests.support.processes import command_lines, parent_of

PREFERRED = -20
"""The nice value of a program that does not wait for others."""


@contextmanager
def on_its_own_cpus(pid: int, *at_once: str) -> Iterator[bool]:
    """Has a child process on half of the CPUs, and this process and all others below it on the rest.

    It, this process, and those with one of these words in their command run whenever they have something to
    do: with a computer of their own they would wait for none either, nor for what else this one does, such as
    a virtual machine's agent for 20 ms at a time. Where that is not permitted, they do.

    The child gets the least nice value for that, and the others, which do little, the real-time scheduler:
    the kernel has real-time threads that fill a CPU for 0.95 s wait for the rest of the second.

    Yields:
        whether it is so: one CPU cannot be divided.
    """
    cpus = sorted(os.sched_getaffinity(0))
    its, rest = cpus[: len(cpus) // 2], cpus[len(cpus) // 2 :]
    if not its:
        yield False
        return
    here = os.getpid()
    below = _below(here)
    others = {each for each, command in below.items() if any(word in command for word in at_once)}
    first = {here, pid, *others}
    for each in (here, *below):
        if each == pid:
            _on_threads(each, partial(_prefer, its))
            _prefer_session(each, PREFERRED)
        else:
            keep_on(each, rest, in_time=each in first)
    try:
        yield True
    finally:
        for each in (here, *below):
            keep_on(each, cpus, in_time=False)
        _prefer_session(pid, 0)


def _below(pid: int) -> dict[int, str]:
    """The command lines of children, of their children, and so on."""
    lines = command_lines()
    parents = {each: parent_of(each) for each in lines}
    found, more = set(), {pid}
    while more:
        more = {each for each, parent in parents.items() if parent in more}
        found |= more
    return {each: " ".join(lines[each]) for each in found}


def keep_on(pid: int, cpus: Sequence[int], *, in_time: bool) -> None:
    """Has all threads of a process on these CPUs; in time: whenever they have something to do, if little."""
    _on_threads(pid, partial(_keep, cpus, in_time))


def _on_threads(pid: int, change: Callable[[int], None]) -> None:
    for thread in Path(f"/proc/{pid}/task").glob("*"):
        with contextlib.suppress(OSError):  # it has ended, or this is not permitted
            change(int(thread.name))


def _prefer(cpus: Sequence[int], thread: int) -> None:
    os.sched_setaffinity(thread, cpus)
    if not _yields(thread):
        os.setpriority(os.PRIO_PROCESS, thread, PREFERRED)


def _prefer_session(pid: int, nice: int) -> None:
    """Nice values count within a session; it has one itself, where the kernel shares CPUs by sessions."""
    with contextlib.suppress(OSError):
        Path(f"/proc/{pid}/autogroup").write_text(str(nice))


def _keep(cpus: Sequence[int], in_time: bool, thread: int) -> None:
    os.sched_setaffinity(thread, cpus)
    if in_time and not _yields(thread):
        os.sched_setscheduler(thread, os.SCHED_RR, os.sched_param(1))
    elif os.sched_getscheduler(thread) == os.SCHED_RR:
        os.sched_setscheduler(thread, os.SCHED_OTHER, os.sched_param(0))
    if os.getpriority(os.PRIO_PROCESS, thread) == PREFERRED:
        os.setpriority(os.PRIO_PROCESS, thread, 0)


def _yields(thread: int) -> bool:
    """One that yields to the others of its program does so with a computer of its own, too."""
    return os.getpriority(os.PRIO_PROCESS, thread) > 0
