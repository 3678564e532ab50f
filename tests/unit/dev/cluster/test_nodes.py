"""The nodes that the engine lists, and what was reported since their start."""

from __future__ import annotations

import datetime as dt
import json
from pathlib import Path

import pytest

from onair_dev.cluster import nodes
from onair_dev.cluster.nodes import containers
from onair_dev.failures import Failed

NOW = dt.datetime.now(dt.UTC)
MINUTE = dt.timedelta(minutes=1)
NODE = "onair-worker"
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


def written(moment: dt.datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%S.123456Z")


@pytest.mark.parametrize(
    ("started", "ready"),
    [(NOW - 9 * MINUTE, True), (NOW - MINUTE, False), (NOW + 60 * MINUTE, True)],
    ids=["before", "since", "while the clock was ahead"],
)
def test_what_was_reported_before_a_nodes_start_does_not_count(
    started: dt.datetime, ready: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    reported = written(NOW - 5 * MINUTE)
    running = {"ready": True, "state": {"running": {"startedAt": reported}}}
    pod = {
        "metadata": {"name": "onair-api-0"},
        "spec": {"nodeName": NODE, "containers": [{}]},
        "status": {"phase": "Running", "containerStatuses": [running]},
    }
    answers = {"leases": f"{NODE} {reported}", "nodes": "True", "pods": json.dumps({"items": [pod]})}
    monkeypatch.setattr(nodes, "containers", lambda: [{"name": f"/{NODE}", "started": written(started)}])
    monkeypatch.setattr(nodes, "kubectl", lambda _, what, *__: answers[what])
    assert nodes.nodes_report() is ready
    assert bool(nodes.pods_ready("onair-system")) is ready
