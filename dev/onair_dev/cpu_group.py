"""One share of the CPU for all that is started on this machine itself, next to a local cluster.

In the root group of Linux each thread counts as much as all containers of Docker together: what a test runs
in place of somebody's computer, such as the encoder of a camera, would leave a local cluster next to nothing.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

NAME = "onair"
GROUPS, OWN = Path("/sys/fs/cgroup"), Path("/proc/self/cgroup")
SHARES, WEIGHT = 1024, 100
"""The kernel's defaults. Docker's containers have them all together, or what their group says."""
REAL_TIME_US = 500_000
"""Of each second, for those that ask for real-time priority; version 1 has none in a new group."""


def join(groups: Path = GROUPS, own: Path = OWN) -> bool:
    """Moves this process to the group, and so all that it starts.

    Args:
        groups: where groups are mounted, of version 1 or 2.
        own: this process's groups.

    Returns:
        whether it did: it has none of its own yet, and may.
    """
    root = _root(groups, own)
    if root is None:
        return False
    group = root / NAME
    try:
        group.mkdir(exist_ok=True)
        if (shares := group / "cpu.shares").exists():
            _write(shares, _shares_of(root / "docker"))
            if (
                real_time := group / "cpu.rt_runtime_us"
            ).exists():  # not every kernel divides it among groups
                _write(real_time, REAL_TIME_US)
        else:
            _write(group / "cpu.weight", WEIGHT)
        (group / "cgroup.procs").write_text(str(os.getpid()))
    except OSError:
        with suppress(OSError):
            group.rmdir()
        return False
    return True


def _root(groups: Path, own: Path) -> Path | None:
    """The root group of the CPU, if this process is in it."""
    try:
        mine = dict(line.split(":", 2)[1:] for line in own.read_text().splitlines())
    except OSError:
        return None
    of_cpu = next((each for each in mine if "cpu" in each.split(",")), "")
    return groups / of_cpu if mine.get(of_cpu) == "/" else None


def _shares_of(group: Path) -> int:
    try:
        return int((group / "cpu.shares").read_text())
    except OSError:
        return SHARES


def _write(setting: Path, value: int) -> None:
    with setting.open("r+") as file:
        file.write(str(value))
