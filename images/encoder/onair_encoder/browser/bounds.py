"""What the browser may take: memory, short of the container's limit, and disk, short of the volume's.

Beyond these the kernel kills, or the kubelet evicts the whole pod.
"""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

CGROUP = Path("/sys/fs/cgroup")
MEMORY_SHARE = 0.85
"""Of the container's limit."""
MAX_PROFILE_BYTES = 512 * 1024 * 1024
"""Half of the volume: the kubelet measures it every 10 s only."""
_UNLIMITED = 1 << 60


def excess(profile: Path) -> str | None:
    """Why the browser has to be restarted, if so; blocks for some milliseconds.

    Args:
        profile: its folder.
    """
    limit = memory_limit()
    if limit is not None and memory_used() > limit * MEMORY_SHARE:
        return f"the page takes more than {round(limit * MEMORY_SHARE) >> 20} MiB of memory"
    if folder_size(profile) > MAX_PROFILE_BYTES:
        return f"the page stores more than {MAX_PROFILE_BYTES >> 20} MiB"
    return None


def memory_limit() -> int | None:
    """The container's, bytes; None without one. cgroup v2, else v1."""
    for path in (CGROUP / "memory.max", CGROUP / "memory/memory.limit_in_bytes"):
        try:
            text = path.read_text().strip()
        except OSError:
            continue
        return None if text == "max" or int(text) >= _UNLIMITED else int(text)
    return None


def memory_used() -> int:
    """What the kernel cannot free in the container, bytes: neither files nor caches of them."""
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
    return 0


def folder_size(folder: Path) -> int:
    """Bytes that its files take on the disk."""
    total = 0
    for path, _, names in os.walk(folder):
        for name in names:
            with contextlib.suppress(OSError):  # deleted meanwhile
                total += Path(path, name).lstat().st_blocks * 512
    return total
