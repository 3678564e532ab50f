"""One share of the CPU for all that a command starts: groups of both versions, as the kernel shows them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from onair_dev import cpu_group
from onair_dev.cpu_group import NAME, join

FIRST = "5:memory:/shell\n2:cpuacct:/\n1:cpu:/\n0::/\n"
TOGETHER = "2:cpu,cpuacct:/\n0::/\n"
SECOND = "0::/\n"


def kernel(folder: Path, own: str, group: str, *settings: str) -> tuple[Path, Path, Path]:
    """Where groups are mounted, this process's groups, and the group that is to be made.

    The kernel makes its settings with it.
    """
    (folder / "own").write_text(own)
    made = folder / "groups" / group / NAME
    made.mkdir(parents=True)
    for each in ("cgroup.procs", *settings):
        (made / each).touch()
    return folder / "groups", folder / "own", made


@pytest.mark.parametrize(
    ("own", "group", "setting", "value"),
    [
        (FIRST, "cpu", "cpu.shares", "1024"),
        (TOGETHER, "cpu,cpuacct", "cpu.shares", "1024"),
        (SECOND, "", "cpu.weight", "100"),
    ],
    ids=["version 1", "version 1, two together", "version 2"],
)
def test_it_has_what_all_containers_have(
    tmp_path: Path, own: str, group: str, setting: str, value: str
) -> None:
    groups, mine, made = kernel(tmp_path, own, group, setting)
    assert join(groups, mine)
    assert (made / setting).read_text() == value
    assert (made / "cgroup.procs").read_text() == str(os.getpid())


def test_it_has_as_much_as_dockers_group_says(tmp_path: Path) -> None:
    groups, mine, made = kernel(tmp_path, FIRST, "cpu", "cpu.shares")
    (groups / "cpu/docker").mkdir()
    (groups / "cpu/docker/cpu.shares").write_text("2048\n")
    assert join(groups, mine)
    assert (made / "cpu.shares").read_text() == "2048"


def test_what_asks_for_real_time_may_have_it_where_groups_have_a_part_of_it(tmp_path: Path) -> None:
    groups, mine, made = kernel(tmp_path, FIRST, "cpu", "cpu.shares", "cpu.rt_runtime_us")
    assert join(groups, mine)
    assert (made / "cpu.rt_runtime_us").read_text() == str(cpu_group.REAL_TIME_US)


@pytest.mark.parametrize("own", [FIRST.replace("cpu:/", "cpu:/a/shell"), "0::/user.slice\n"])
def test_a_shell_that_has_a_share_keeps_it(tmp_path: Path, own: str) -> None:
    groups, mine, made = kernel(tmp_path, own, "cpu", "cpu.shares")
    assert not join(groups, mine)
    assert not (made / "cgroup.procs").read_text()


def test_where_it_may_not_or_cannot_it_stays(tmp_path: Path) -> None:
    assert not join(tmp_path / "nowhere", tmp_path / "nothing")
    groups, mine, made = kernel(tmp_path, SECOND, "")
    assert not join(groups, mine), "the CPU is not divided among groups"
    assert not (made / "cgroup.procs").read_text()


def test_without_a_part_of_real_time_it_stays(tmp_path: Path) -> None:
    groups, mine, made = kernel(tmp_path, FIRST, "cpu", "cpu.shares")
    (made / "cpu.rt_runtime_us").mkdir()
    assert not join(groups, mine)
    assert not (made / "cgroup.procs").read_text()
