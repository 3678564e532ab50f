"""A profile comes to its place whole, under a name of its content."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from onair_operator.sandbox.profile import install, installed_name

ROOT = Path(__file__).parents[4]
PROFILE = ROOT / "charts/onair/files/seccomp/chromium.json"
NAMESPACES = 0x7E02_0000
"""The flags of clone that make namespaces."""
NEVER = {
    *(
        "bpf",
        "delete_module",
        "finit_module",
        "fsmount",
        "fsopen",
        "init_module",
        "io_uring_setup",
        "kexec_load",
    ),
    *("keyctl", "mount", "mount_setattr", "move_mount", "open_by_handle_at", "perf_event_open", "pivot_root"),
    *("reboot", "setns", "swapon", "umount2", "userfaultfd"),
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "nodes").mkdir()
    return tmp_path / "nodes"


def test_it_is_copied_once_and_readable(folder: Path) -> None:
    name = f"chromium-{hashlib.sha256(PROFILE.read_bytes()).hexdigest()[:12]}.json"
    assert name == installed_name(PROFILE.read_bytes())
    install(PROFILE, folder)
    (found,) = folder.iterdir()
    assert found.name == name
    assert found.read_bytes() == PROFILE.read_bytes()
    assert found.stat().st_mode & 0o777 == 0o644
    before = found.stat().st_mtime_ns
    install(PROFILE, folder)
    assert (found.stat().st_mtime_ns, list(folder.iterdir())) == (before, [found])


def test_one_that_was_damaged_is_replaced(folder: Path) -> None:
    (folder / installed_name(PROFILE.read_bytes())).write_text("{")
    install(PROFILE, folder)
    (found,) = folder.iterdir()
    assert found.read_bytes() == PROFILE.read_bytes()


def test_another_profile_is_another_file_as_pods_that_run_keep_theirs(folder: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.json"
    other.write_text("{}")
    install(PROFILE, folder)
    install(other, folder)
    assert {each.name for each in folder.iterdir()} == {
        installed_name(each.read_bytes()) for each in (PROFILE, other)
    }


def test_one_that_cannot_be_written_leaves_nothing(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError("full")

    monkeypatch.setattr(Path, "rename", refuse)
    with pytest.raises(OSError, match="full"):
        install(PROFILE, folder)
    assert list(folder.iterdir()) == []


def test_it_allows_namespaces_in_the_ways_of_chromium_and_no_others() -> None:
    rules = json.loads(PROFILE.read_text())["syscalls"]
    allowed = {name for rule in rules if rule["action"] == "SCMP_ACT_ALLOW" for name in rule["names"]}
    assert allowed & NEVER == set()
    clones = [rule["args"] for rule in rules if rule["names"] == ["clone"]]
    masked = {(each["value"], each["valueTwo"], each["op"]) for (each,) in clones}
    flags = (0, 0x1000_0000, 0x2000_0000, 0x7000_0000)
    assert masked == {(NAMESPACES, flag, "SCMP_CMP_MASKED_EQ") for flag in flags}
    (unshare,) = [rule["args"] for rule in rules if "unshare" in rule["names"]]
    assert unshare == [{"index": 0, "value": 0x1000_0000, "op": "SCMP_CMP_EQ"}]
    (hidden,) = [rule for rule in rules if "clone3" in rule["names"]]
    assert (hidden["action"], hidden["errnoRet"]) == ("SCMP_ACT_ERRNO", 38)
