"""Tests the chart in a real cluster: upgrade during a live show; uninstall and reinstall that keep shows."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from tests.support.cluster import SHOWS, SYSTEM, LocalCluster
from tests.support.programs import program
from tests.support.receiver import GapMonitor, Receiver
from tests.support.shows import FacadeClient, LiveShow

ROOT = Path(__file__).parents[2]


def helm(cluster: LocalCluster, *arguments: str) -> str:
    command = [str(program("helm")), "--kubeconfig", str(cluster.kubeconfig_path), "-n", SYSTEM]
    done = subprocess.run([*command, *arguments], check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture
def reinstall(facade: FacadeClient) -> Iterator[None]:
    """Installs the chart as `make up` does, after the test. The session's token is fetched before it."""
    yield
    subprocess.run([sys.executable, "-m", "onair_dev", "up"], check=True, cwd=ROOT)


def test_an_upgrade_with_a_changed_crd_does_not_affect_a_live_show(
    on_air: LiveShow, cluster: LocalCluster, receiver: Receiver, path: str, reinstall: None, tmp_path: Path
) -> None:
    chart = shutil.copytree(ROOT / "charts/onair", tmp_path / "onair")
    definition = chart / "files/crds/projects.yaml"
    changed = yaml.safe_load(definition.read_text())
    changed["spec"]["names"]["shortNames"].append("programme")
    definition.write_text(yaml.safe_dump(changed))
    pod = cluster.encoder_pod(on_air.project)
    uid = cluster.get("pod", pod)["metadata"]["uid"]
    with GapMonitor(receiver, path) as gap:
        helm(
            cluster, "upgrade", "onair", str(chart), "--reuse-values", "--wait", "--timeout", "180s",
            "--set", "operator.logLevel=DEBUG",
        )  # fmt: skip
        cluster.until("the new name is served", lambda: on_air.project in cluster.shows("get", "programme"))
    assert gap.longest_s < 1.0
    assert cluster.get("pod", pod)["metadata"]["uid"] == uid


def test_an_uninstall_leaves_a_show_on_air_and_a_new_install_takes_it_up(
    on_air: LiveShow, cluster: LocalCluster, receiver: Receiver, path: str, reinstall: None
) -> None:
    pod = cluster.encoder_pod(on_air.project)
    uid = cluster.get("pod", pod)["metadata"]["uid"]
    helm(cluster, "uninstall", "onair", "--wait", "--timeout", "120s")
    cluster.kubectl("-n", SYSTEM, "wait", "--for=delete", "pod", "--all", "--timeout=60s")
    assert SHOWS in cluster.kubectl("get", "namespaces", "-o", "name")
    definitions = cluster.kubectl("get", "crds", "-o", "name")
    for plural in ("collections", "projects", "sources", "destinations", "layouts"):
        assert f"{plural}.onair.dev" in definitions
    assert cluster.get("project", on_air.project)["spec"]["collectionId"] == on_air.collection
    assert cluster.get("pod", pod)["status"]["phase"] == "Running"

    subprocess.run([sys.executable, "-m", "onair_dev", "up"], check=True, cwd=ROOT)
    assert cluster.get("pod", pod)["metadata"]["uid"] == uid
    receiver.wait_steady(path)
    broadcast = on_air.wait_phase("RUNNING")["broadcastId"]
    on_air.stop()
    assert on_air.wait_phase("STOPPED")["broadcastId"] == broadcast
    assert cluster.get("project", on_air.project)["status"]["broadcast"]["epoch"] == 1
