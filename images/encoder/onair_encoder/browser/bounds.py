"""What the browser may take: memory short of the container's limit, disk short of the volume's, and threads.

Beyond these the kernel kills, the kubelet evicts the whole pod, or other pods of the node cannot start any.
"""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from onair_crds.contract.pod import MEMORY_LIMIT_VARIABLE

CGROUP = Path("/sys/fs/cgroup")
MEMORY_SHARE = 0.85
"""Of the container's limit."""
MAX_PROFILE_BYTES = 512 * 1024 * 1024
"""Half of the volume: the kubelet measures it every 10 s only."""
MUCH_BYTES = MAX_PROFILE_BYTES // 8
"""A disk with so much less free space is being filled by a page: what is stored is counted at once."""
LOOKS_AT_THE_DISK = 4
"""One of so many: what is there takes milliseconds to count."""
MAX_STORED_BYTES = 256 * 1024 * 1024
"""What Chromium lets pages store, all together; its own files come on top."""
MAX_TASKS = 1500
"""Processes and their threads: a page that plays 30 sources in frames of other sites has some 600."""
_UNLIMITED = 1 << 60


def excess(profile: Path | None) -> str | None:
    """Why the browser has to be restarted, if so.

    Args:
        profile: its folder, if that is to be looked at, which blocks for some milliseconds.
    """
    limit = memory_limit()
    if limit is not None and memory_used() > limit * MEMORY_SHARE:
        return f"the page takes more than {round(limit * MEMORY_SHARE) >> 20} MiB of memory"
    if tasks() > MAX_TASKS:
        return f"the page runs more than {MAX_TASKS} processes and threads"
    if profile and folder_size(profile) > MAX_PROFILE_BYTES:
        return f"the page stores more than {MAX_PROFILE_BYTES >> 20} MiB"
    return None


class DiskLooks:
    """Says which looks at what the browser takes are at the disk too."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._looks = 0
        self._free_bytes = 0
        """Of the whole disk, at the last look at it."""

    def due(self) -> bool:
        """Whether this one is; to be called once for each look."""
        free_bytes = self._free()
        due = self._looks % LOOKS_AT_THE_DISK == 0 or self._free_bytes - free_bytes > MUCH_BYTES
        self._looks += 1
        if due:
            self._free_bytes = free_bytes
        return due

    def _free(self) -> int:
        try:
            found = os.statvfs(self._folder)
        except OSError:  # it is gone
            return 0
        return found.f_bfree * found.f_frsize


def memory_limit() -> int | None:
    """The container's memory limit in bytes, by its pod, or by cgroup v2 or v1; None without one."""
    if told := os.environ.get(MEMORY_LIMIT_VARIABLE):
        return int(told)
    for path in (CGROUP / "memory.max", CGROUP / "memory/memory.limit_in_bytes"):
        try:
            text = path.read_text().strip()
        except OSError:
            continue
        return None if text == "max" or int(text) >= _UNLIMITED else int(text)
    return None


def memory_used() -> int:
    """What the kernel cannot free in the container, bytes: neither files nor caches of them.

    Where it has no kinds, as gVisor, all that it counts.
    """
    for path, kinds in (
        (CGROUP / "memory.stat", ("anon", "shmem")),
        (CGROUP / "memory/memory.stat", ("total_rss", "total_shmem")),
    ):
        try:
            lines = path.read_text().splitlines()
        except OSError:
            continue
        counts = dict(line.split(" ", 1) for line in lines)
        return sum(int(counts.get(kind, 0)) for kind in kinds)
    return _first_number("memory.current", "memory/memory.usage_in_bytes")


def tasks() -> int:
    """Processes and threads of the container; 0 where nobody counts them."""
    return _first_number("pids.current", "pids/pids.current")


def _first_number(*names: str) -> int:
    for name in names:
        try:
            return int((CGROUP / name).read_text())
        except OSError:
            continue
    return 0


def folder_size(folder: Path) -> int:
    """Bytes that its files take on the disk."""
    total = 0
    for path, _, names in os.walk(folder):
        for name in names:
            with contextlib.suppress(OSError):  # deleted meanwhile
                total += Path(path, name).lstat().st_blocks * 512
    return total
