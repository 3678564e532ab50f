"""One share of the CPU for all that a command of ours starts on this machine itself.

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
REAL_TIME_US = 900_000
"""Of each second, for those that ask for real-time priority; version 1 has none in a new group."""


def join(groups: Path = GROUPS, own: Path = OWN) -> bool:
    """Moves this process to the group, and so all that it starts.

    Args:
        groups: where groups are mounted, of version 1 or 2.
        own: this process's groups.

    Returns:
        whether it did: it has none of its own yet, and may.
    """
    try:
        controllers = dict(line.split(":", 2)[1:] for line in own.read_text().splitlines())
        of_cpu = next((each for each in controllers if "cpu" in each.split(",")), "")
        if controllers.get(of_cpu) != "/":
            return False
        group = groups / of_cpu / NAME
        group.mkdir(exist_ok=True)
        if of_cpu:
            _write(group / "cpu.shares", _shares_of(group.with_name("docker")))
            with suppress(OSError):  # not every kernel divides real time among groups
                _write(group / "cpu.rt_runtime_us", REAL_TIME_US)
        else:
            _write(group / "cpu.weight", WEIGHT)
        (group / "cgroup.procs").write_text(str(os.getpid()))
    except OSError:
        return False
    return True


def _shares_of(group: Path) -> int:
    try:
        return int((group / "cpu.shares").read_text())
    except OSError:
        return SHARES


def _write(setting: Path, value: int) -> None:
    with setting.open("r+") as file:
        file.write(str(value))
