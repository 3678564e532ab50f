"""`make up`, `down` and `clean` of one machine."""

from __future__ import annotations

import argparse
import fcntl
from pathlib import Path

import pytest

from onair_dev import __main__ as program
from onair_dev import exclusive, failures, plans
from onair_dev.cluster import kind
from onair_dev.console_progress import Step
from onair_dev.tools import cluster_tools


@pytest.mark.parametrize("cluster", ["onair", "another"])
@pytest.mark.parametrize("command", ["down", "clean"])
def test_nothing_is_deleted_while_another_make_builds(
    command: str, cluster: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Of whichever cluster: programs, images and the registry are for all of them."""
    monkeypatch.setattr(program, "CLUSTER", cluster, raising=False)
    monkeypatch.setattr(exclusive, "CACHE", tmp_path)
    held: list[bool] = []

    def record(_: Step) -> None:
        with (tmp_path / "onair.lock").open("w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                held.append(True)

    monkeypatch.setattr(kind, command, record)
    program.perform(argparse.Namespace(command=command))
    assert held == [True], "the lock that `make up` takes"


@pytest.mark.parametrize("command", ["down", "clean"])
def test_nothing_is_called_deleted_while_docker_is_stopped(
    command: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(exclusive, "CACHE", tmp_path)
    monkeypatch.setattr(kind, "BUILD", tmp_path / "build")
    (tmp_path / "build").mkdir()
    docker = tmp_path / "docker"
    docker.write_text("#!/bin/sh\necho 'Cannot connect to the Docker daemon.' >&2; exit 1\n")
    docker.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(failures.Failed, match="Cannot connect to the Docker daemon") as failed:
        program.perform(argparse.Namespace(command=command))
    assert failed.value.remedy == "start Docker, or give this user access to it (group docker)"
    assert (tmp_path / "build").exists()


@pytest.mark.parametrize(
    ("options", "steps"),
    [
        (argparse.Namespace(command="prepare", part="test"), ["discard", "look", "run"]),
        (argparse.Namespace(command="images"), ["look", "run"]),
    ],
    ids=["test", "images"],
)
def test_what_other_inputs_made_is_gone_before_a_look_at_what_is_missing(
    options: argparse.Namespace, steps: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    done: list[str] = []

    def look() -> plans.Facts:
        done.append("look")
        return plans.Facts()

    monkeypatch.setattr(exclusive, "CACHE", tmp_path)
    monkeypatch.setattr(cluster_tools, "discard_stale", lambda: done.append("discard"))
    monkeypatch.setattr(plans, "facts", look)
    monkeypatch.setattr(program, "run_all", lambda *_: done.append("run"))
    program.perform(options)
    assert done == steps
