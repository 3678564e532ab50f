"""Reaps processes that PID 1 has inherited."""

from __future__ import annotations

import asyncio
import contextlib
import os
from pathlib import Path

REAP_S = 5.0


async def reap_orphans() -> None:
    """Collects zombies until cancelled; children of ours are left to asyncio."""
    if os.getpid() != 1:
        await asyncio.get_running_loop().create_future()
    before: set[int] = set()
    while True:
        await asyncio.sleep(REAP_S)
        try:
            found = _zombies_of(1)
        except OSError:  # no descriptor is left, or no memory, for a moment
            continue
        # Asyncio collects its own at once: what is seen twice is an orphan.
        for pid in before & found:
            with contextlib.suppress(ChildProcessError):
                os.waitpid(pid, os.WNOHANG)  # noqa: ASYNC222
        before = found


def _zombies_of(parent: int) -> set[int]:
    found = set()
    for folder in Path("/proc").iterdir():
        if not folder.name.isdigit():
            continue
        try:
            state, ppid = (folder / "stat").read_text().rpartition(")")[2].split()[:2]
        except OSError:
            continue
        if state == "Z" and int(ppid) == parent:
            found.add(int(folder.name))
    return found
