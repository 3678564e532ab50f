"""Processes of this machine, read from /proc: `ps` cuts their command lines where it likes."""

from __future__ import annotations

import contextlib
import os
import signal
from pathlib import Path

from tests.support.waiting import wait_for


def command_lines() -> dict[int, list[str]]:
    """Arguments of all processes, by pid."""
    found = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                arguments = (folder / "cmdline").read_bytes().decode(errors="replace")
            except OSError:
                continue  # it has ended meanwhile
            found[int(folder.name)] = arguments.rstrip("\0").split("\0")
    return found


def parent_of(pid: int) -> int | None:
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    except OSError:
        return None


def children_of(pid: int, word: str = "") -> list[int]:
    """Children of a process, with a word in their command lines.

    Not from /proc/PID/task/PID/children: while one of them ends, it may leave out others.
    """
    return [
        each
        for each, arguments in command_lines().items()
        if word in " ".join(arguments) and parent_of(each) == pid
    ]


def suspend(pid: int) -> None:
    """Stops all threads of a process. The kernel has one of them stop the others once it runs next: on a busy
    machine they may serve a request before.
    """
    os.kill(pid, signal.SIGSTOP)
    wait_for(lambda: _thread_states(pid) == {"T"}, "all of its threads are stopped")


def _thread_states(pid: int) -> set[str]:
    states = set()
    for thread in Path(f"/proc/{pid}/task").iterdir():
        with contextlib.suppress(OSError):  # it has ended meanwhile
            states.add((thread / "stat").read_text().rpartition(")")[2].split()[0])
    return states


def sockets(pid: int) -> set[str]:
    """What a process has open, as in `socket:[1234]`."""
    found = set()
    for each in Path(f"/proc/{pid}/fd").iterdir():
        with contextlib.suppress(FileNotFoundError):  # closed meanwhile
            found.add(str(each.readlink()))
    return found


def is_connected_to(pid: int, port: int) -> bool:
    """Whether a process has a TCP connection over IPv4 to a port of any address."""
    own = sockets(pid)
    rows = [line.split() for line in Path(f"/proc/{pid}/net/tcp").read_text().splitlines()[1:]]
    return any(row[2].endswith(f":{port:04X}") and f"socket:[{row[9]}]" in own for row in rows)


def descendants(*, with_argument: str) -> list[int]:
    """Processes below this one of which an argument, or the program itself, is that."""
    return [pid for pid, arguments in command_lines().items() if with_argument in arguments and _is_ours(pid)]


def _is_ours(pid: int | None) -> bool:
    while pid := parent_of(pid) if pid else None:
        if pid == os.getpid():
            return True
    return False
