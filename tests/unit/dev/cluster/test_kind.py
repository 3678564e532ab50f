"""Whose cluster it is that a name finds, and what may be done with it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from onair_dev import subprocesses
from onair_dev.cluster import base_images, images, kind
from onair_dev.console_progress import Step
from onair_dev.failures import Failed
from onair_dev.settings import NODES, REGISTRY_CONTAINER, ports
from onair_dev.subprocesses import Cancelled

RUNNING, STOPPED = "running", "exited"


class KindDaemon:
    """A Docker daemon with the nodes of one cluster, and this user's cache."""

    def __init__(self, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.nodes: list[dict[str, str]] = []
        self.interrupted_at = ""
        self.done: list[str] = []
        self.revives = True
        monkeypatch.setattr(kind, "CACHE", cache)
        monkeypatch.setattr(kind, "STAMP", cache / "onair.cluster")
        monkeypatch.setattr(kind, "PORTS", cache / "onair.ports.json")
        monkeypatch.setattr(kind, "KUBECONFIG", cache / "onair.kubeconfig")
        monkeypatch.setattr(images, "ROOMS_INSTALLED", cache / "onair.rooms")
        monkeypatch.setattr(kind, "INOTIFY", {})
        monkeypatch.setattr(kind, "containers", lambda: list(self.nodes))
        monkeypatch.setattr(kind, "node_names", self.node_names)
        monkeypatch.setattr(kind, "program", Path)
        monkeypatch.setattr(kind, "fingerprint", lambda _: "as configured")
        monkeypatch.setattr(base_images, "node_image", lambda: "node")
        self.revive = kind.revive
        monkeypatch.setattr(kind, "revive", lambda _: self.revives)
        for later in ("connect", "wait_for_system"):
            monkeypatch.setattr(kind, later, lambda *_: None)
        monkeypatch.setattr(kind, "kubectl", lambda *_: "v1.34.0")
        monkeypatch.setattr(Step, "run", self._run)

    def _run(self, _: str, log_name: str, command: list[str], **__: object) -> None:
        self.done.append(log_name)
        if log_name == "cluster-delete":
            self.nodes = []
        elif log_name == "cluster":
            self.nodes = nodes("ours", RUNNING)
        if log_name == self.interrupted_at:
            raise KeyboardInterrupt

    def node_names(self) -> list[str]:
        return [node["name"] for node in self.nodes]

    def make_cluster(self) -> list[str]:
        """Runs the task; returns what it did to the cluster."""
        self.done.clear()
        kind.cluster_task(Step("cluster"))
        return self.done

    def interrupt(self, at: str) -> None:
        self.interrupted_at = at
        with pytest.raises(KeyboardInterrupt):
            self.make_cluster()
        self.interrupted_at = ""


def nodes(whose: str, state: str) -> list[dict[str, str]]:
    return [{"id": f"{whose}-{n}", "name": f"onair-{n}", "state": state} for n in range(len(NODES))]


@pytest.fixture
def daemon(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> KindDaemon:
    return KindDaemon(tmp_path, monkeypatch)


@pytest.fixture
def cancelled() -> Iterator[None]:
    subprocesses.terminate_all()
    yield
    subprocesses.allow_new()


def test_a_cluster_that_exists_is_kept(daemon: KindDaemon) -> None:
    assert daemon.make_cluster() == ["cluster"]
    assert daemon.make_cluster() == []


@pytest.mark.parametrize("state", [RUNNING, "paused"])
@pytest.mark.parametrize("before", [False, True], ids=["a fresh cache", "a cache of an earlier cluster"])
def test_a_cluster_in_use_by_somebody_else_is_not_deleted(
    daemon: KindDaemon, state: str, before: bool
) -> None:
    if before:
        daemon.make_cluster()
    daemon.nodes = nodes("theirs", state)
    with pytest.raises(Failed, match="running that was not created with") as failed:
        daemon.make_cluster()
    assert daemon.done == []
    assert "ONAIR_CLUSTER" in failed.value.remedy
    assert "make down" in failed.value.remedy


def test_a_stopped_cluster_of_a_lost_cache_is_replaced(daemon: KindDaemon) -> None:
    daemon.nodes = nodes("lost", STOPPED)
    assert daemon.make_cluster() == ["cluster-delete", "cluster"]


@pytest.mark.parametrize("at", ["cluster", "cluster-delete"])
def test_a_half_made_or_half_deleted_cluster_of_ones_own_is_replaced(daemon: KindDaemon, at: str) -> None:
    daemon.revives = False
    if at == "cluster-delete":
        daemon.make_cluster()
    daemon.interrupt(at)
    daemon.nodes = nodes("half", RUNNING)
    assert daemon.make_cluster() == ["cluster-delete", "cluster"]


def test_a_cluster_that_is_deleted_on_request_may_be_anybodys(daemon: KindDaemon) -> None:
    daemon.nodes = nodes("theirs", RUNNING)
    kind.delete(Step("down"), "requested")
    assert daemon.nodes == []
    assert daemon.make_cluster() == ["cluster"]


def test_a_cluster_keeps_its_ports_until_it_is_deleted_on_request(
    daemon: KindDaemon, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    kept = tmp_path / "onair.ports.json"
    for each in ("output_of", "required_output_of"):
        monkeypatch.setattr(kind, each, lambda *_, **__: "")
    daemon.interrupt("cluster")
    assert json.loads(kept.read_text()) == ports()
    kind.down(Step("down"))
    assert not kept.exists()


@pytest.mark.parametrize("others", ["", "0123456789ab"])
def test_the_registry_stays_for_clusters_of_other_names(
    others: str, daemon: KindDaemon, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[list[str]] = []

    def docker(command: list[str], remedy: str = "") -> str:
        asked.append(command[1:])
        return others

    monkeypatch.setattr(kind, "output_of", docker)
    monkeypatch.setattr(kind, "required_output_of", docker)
    daemon.make_cluster()
    kind.down(Step("down"))
    assert daemon.nodes == []
    assert (["rm", "--force", REGISTRY_CONTAINER] in asked) is (others == "")


def test_an_interruption_does_not_wait_for_the_nodes(
    daemon: KindDaemon, monkeypatch: pytest.MonkeyPatch, cancelled: None
) -> None:
    daemon.nodes = nodes("ours", RUNNING)
    monkeypatch.setattr(kind, "nodes_report", lambda: False)
    monkeypatch.setattr(kind, "output_of", lambda _: "")
    with pytest.raises(Cancelled):
        daemon.revive(Step("cluster"))


def test_a_cluster_is_kept_whose_restart_was_interrupted(
    daemon: KindDaemon, monkeypatch: pytest.MonkeyPatch
) -> None:
    daemon.make_cluster()
    daemon.revives = False
    subprocesses.terminate_all()
    try:
        with pytest.raises(Cancelled):
            daemon.make_cluster()
    finally:
        subprocesses.allow_new()
    assert daemon.done == []
    daemon.revives = True
    assert daemon.make_cluster() == []


TAKEN = "Error starting userland proxy: listen tcp4 127.0.0.1:8080: bind: address already in use"


@pytest.mark.parametrize(
    ("state", "command"), [(STOPPED, "start"), ("paused", "unpause")], ids=["stopped", "paused"]
)
@pytest.mark.parametrize("starts", [True, False])
def test_nodes_that_do_not_run_are_started(
    state: str, command: str, starts: bool, daemon: KindDaemon, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[list[str]] = []

    def run(_: Step, __: str, ___: str, command: list[str]) -> None:
        started.append(command)
        if not starts:
            raise Failed("exit code 1")

    monkeypatch.setattr(Step, "run", run)
    monkeypatch.setattr(kind, "nodes_report", lambda: True)
    monkeypatch.setattr(kind, "output_of", lambda _: "")
    daemon.nodes = nodes("ours", state)
    assert daemon.revive(Step("cluster")) is starts
    names = daemon.node_names() if starts else daemon.node_names()[:1]
    assert started == [["docker", command, name] for name in names]


def test_a_cluster_is_kept_while_another_program_has_its_port(
    daemon: KindDaemon, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    log = tmp_path / "start.log"
    log.write_text(f"Error response from daemon: {TAKEN}\nError: failed to start containers: onair-0\n")

    def run(*_: object) -> None:
        raise Failed("exit code 1", log=log)

    daemon.make_cluster()
    daemon.nodes = nodes("ours", STOPPED)
    monkeypatch.setattr(kind, "revive", daemon.revive)
    with monkeypatch.context() as patched:
        patched.setattr(Step, "run", run)
        with pytest.raises(Failed, match="address already in use"):
            kind.cluster_task(Step("cluster"))
    monkeypatch.setattr(kind, "revive", lambda _: True)
    assert daemon.make_cluster() == []
