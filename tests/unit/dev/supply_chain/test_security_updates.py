"""Security updates in what apt says, and that saying nothing of them is a failure."""

from __future__ import annotations

import subprocess

import pytest

from onair_dev.failures import Failed
from onair_dev.supply_chain.security_updates import SecurityUpdate, security_updates, updates_of

TOLD = """NOTE: This is only a simulation!
Inst tzdata [2025a-0+deb12u1] (2025b-0+deb12u2 Debian:12.11/oldstable-updates [all])
Inst chromium [140.0.1-1~deb12u1] (142.0.2-1~deb12u1 Debian-Security:12/oldstable-security [amd64]) []
Inst libexpat1 [2.5.0-1] (2.5.0-1+deb12u2 Debian:12/old, Debian-Security:12/old [amd64])
Conf chromium (142.0.2-1~deb12u1 Debian-Security:12/oldstable-security [amd64])
"""


def test_only_what_the_security_suite_has_counts() -> None:
    assert list(security_updates(TOLD)) == [
        SecurityUpdate("chromium", "140.0.1-1~deb12u1", "142.0.2-1~deb12u1"),
        SecurityUpdate("libexpat1", "2.5.0-1", "2.5.0-1+deb12u2"),
    ]


def docker_prints(told: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def run(command: list[str], **_: object) -> subprocess.CompletedProcess[str]:
        return subprocess.CompletedProcess(command, 0, told, "")

    monkeypatch.setattr(subprocess, "run", run)


def test_updates_are_those_of_an_image_whose_sources_name_the_security_suite(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    docker_prints(f"Index Debian\nIndex Debian-Security\n{TOLD}", monkeypatch)
    assert [each.package for each in updates_of("onair/redis:1")] == ["chromium", "libexpat1"]


def test_a_mirror_without_the_security_suite_is_no_word_of_security(monkeypatch: pytest.MonkeyPatch) -> None:
    docker_prints("Index Debian\n0 upgraded, 0 newly installed, 0 to remove\n", monkeypatch)
    with pytest.raises(Failed, match="onair/redis:1: none of its package sources is Debian's security suite"):
        updates_of("onair/redis:1")


def test_a_mirror_that_takes_too_long_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def run(command: list[str], *, timeout: float, **_: object) -> None:
        raise subprocess.TimeoutExpired(command, timeout)

    monkeypatch.setattr(subprocess, "run", run)
    with pytest.raises(Failed, match="could not be read within 300 s"):
        updates_of("onair/redis:1")
