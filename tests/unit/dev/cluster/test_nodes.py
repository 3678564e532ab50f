"""The nodes that the engine lists."""

from __future__ import annotations

from pathlib import Path

import pytest

from onair_dev.cluster.nodes import containers
from onair_dev.failures import Failed

LISTED = """case $1 in
ps) printf 'onair-worker\\nonair-control-plane\\n' ;;
inspect) shift 3; for each; do echo "{\\"name\\":\\"/$each\\"}"; done ;;
esac"""
GONE_SINCE = """case $1 in
ps) echo onair-worker ;;
inspect) echo "no such object: onair-worker" >&2; exit 1 ;;
esac"""


@pytest.fixture
def docker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PATH", str(tmp_path))
    return tmp_path / "docker"


def write(program: Path, script: str) -> None:
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)


def test_the_control_plane_comes_first(docker: Path) -> None:
    write(docker, LISTED)
    assert containers() == [{"name": "/onair-control-plane"}, {"name": "/onair-worker"}]


def test_there_may_be_none(docker: Path) -> None:
    write(docker, "exit 0")
    assert containers() == []


@pytest.mark.parametrize(
    "script", ["echo 'permission denied' >&2; exit 1", GONE_SINCE], ids=["ps", "inspect"]
)
def test_an_engine_that_fails_is_not_taken_for_one_without_a_cluster(docker: Path, script: str) -> None:
    write(docker, script)
    with pytest.raises(Failed, match=r"failed with exit code 1: (permission denied|no such object)"):
        containers()


def test_a_machine_without_an_engine_is_named(docker: Path) -> None:
    assert not docker.exists()
    with pytest.raises(Failed, match="`docker ps` cannot be started"):
        containers()
