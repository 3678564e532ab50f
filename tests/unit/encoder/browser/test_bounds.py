"""A browser that takes too much is restarted before the kernel or the kubelet acts."""

from __future__ import annotations

import os
from pathlib import Path
from types import SimpleNamespace

import pytest

from onair_crds.contract.pod import MEMORY_LIMIT_VARIABLE
from onair_encoder.browser import bounds
from onair_encoder.browser.bounds import LOOKS_AT_THE_DISK, MUCH_BYTES, DiskLooks, excess

MIB = 1024 * 1024
V2, V1 = ("memory.max", "memory.stat"), ("memory/memory.limit_in_bytes", "memory/memory.stat")


@pytest.fixture
def cgroup(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "cgroup/memory").mkdir(parents=True)
    monkeypatch.setattr(bounds, "CGROUP", tmp_path / "cgroup")
    return tmp_path / "cgroup"


@pytest.fixture
def profile(tmp_path: Path) -> Path:
    (tmp_path / "profile/Default").mkdir(parents=True)
    return tmp_path / "profile"


@pytest.mark.parametrize(
    ("names", "stat"),
    [
        (V2, "anon {}\nfile 999999999999\nshmem 1048576\n"),
        (V1, "cache 999999999999\nrss 1\ntotal_rss {}\ntotal_shmem 1048576\n"),
    ],
    ids=["v2", "v1"],
)
def test_memory_is_bounded_short_of_the_limit(
    cgroup: Path, profile: Path, names: tuple[str, str], stat: str
) -> None:
    limit, used = (cgroup / name for name in names)
    limit.write_text(f"{1000 * MIB}\n")
    used.write_text(stat.format(800 * MIB))
    assert excess(profile) is None
    used.write_text(stat.format(850 * MIB))
    assert excess(profile) == "the page takes more than 850 MiB of memory"


@pytest.mark.parametrize("used", ["memory.current", "memory/memory.usage_in_bytes"], ids=["v2", "v1"])
def test_a_runtime_that_tells_neither_the_limit_nor_kinds_of_memory_bounds_it_too(
    cgroup: Path, profile: Path, used: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (cgroup / V1[0]).write_text(f"{24_000 * MIB}\n")  # of the whole sandbox
    monkeypatch.setenv(MEMORY_LIMIT_VARIABLE, str(1000 * MIB))
    (cgroup / used).write_text(f"{850 * MIB}\n")
    assert excess(profile) is None
    (cgroup / used).write_text(f"{851 * MIB}\n")
    assert excess(profile) == "the page takes more than 850 MiB of memory"


@pytest.mark.parametrize(("name", "limit"), [(V2[0], "max"), (V1[0], "9223372036854771712")])
def test_without_a_limit_there_is_no_bound(cgroup: Path, profile: Path, name: str, limit: str) -> None:
    (cgroup / name).write_text(limit)
    assert excess(profile) is None


@pytest.mark.usefixtures("cgroup")
def test_what_a_page_stores_is_bounded(profile: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounds, "MAX_PROFILE_BYTES", 2 * MIB)
    (profile / "Default/database").write_bytes(b"x" * MIB)
    assert excess(profile) is None
    (profile / "blob").write_bytes(b"x" * 2 * MIB)
    assert excess(profile) == "the page stores more than 2 MiB"


@pytest.mark.parametrize(
    ("filled_bytes", "looks"),
    [
        (0, [0, 4, 8]),
        (MUCH_BYTES // 8, [0, 4, 8]),
        (MUCH_BYTES + 4096, [*range(9)]),
        (MUCH_BYTES // 2 + 4096, [0, 2, 4, 6, 8]),
    ],
    ids=["unused", "slowly", "at once", "quickly"],
)
def test_the_disk_is_looked_at_now_and_then_and_where_it_fills(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, filled_bytes: int, looks: list[int]
) -> None:
    """Others may fill it as well: it is looked at, and no more."""
    free_bytes = 1 << 40

    def statvfs(folder: Path) -> SimpleNamespace:
        nonlocal free_bytes
        assert folder == tmp_path
        free_bytes -= filled_bytes
        return SimpleNamespace(f_bfree=free_bytes // 4096, f_frsize=4096)

    monkeypatch.setattr(os, "statvfs", statvfs)
    disk_looks = DiskLooks(tmp_path)
    assert [look for look in range(2 * LOOKS_AT_THE_DISK + 1) if disk_looks.due()] == looks


def test_a_folder_that_is_gone_is_looked_at_as_often(tmp_path: Path) -> None:
    disk_looks = DiskLooks(tmp_path / "gone")
    assert [look for look in range(9) if disk_looks.due()] == [0, 4, 8]


@pytest.mark.parametrize("name", ["pids.current", "pids/pids.current"], ids=["v2", "v1"])
def test_processes_and_threads_are_bounded(cgroup: Path, profile: Path, name: str) -> None:
    (cgroup / "pids").mkdir()
    (cgroup / name).write_text("1500\n")
    assert excess(profile) is None
    (cgroup / name).write_text("1501\n")
    assert excess(None) == "the page runs more than 1500 processes and threads"
