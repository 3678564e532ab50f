"""The running cluster of `make up`, through pytest-kind, and one show at a time in it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import time
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from pytest_kind import KindCluster
from tests.support.receiver import IN_CLUSTER_RTMP, Receiver
from tests.support.shows import Facade, Show

SHOWS = "shows"
SYSTEM = "onair-system"
PAGES = "http://onair-demo.onair-system.svc"
PROBE = f"{PAGES}/probe.html"


def _program(name: str) -> Path:
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    built = cache / "onair/kind-node/bin" / name
    found = shutil.which(name)
    if not (found or built.exists()):
        pytest.fail(f"{name} was not found: run `make up`", pytrace=False)
    return Path(found or built)


class Cluster(KindCluster):
    """pytest-kind's cluster with waiting."""

    def shows(self, *arguments: str) -> str:
        return self.kubectl("-n", SHOWS, *arguments)

    def get(self, kind: str, name: str, namespace: str = SHOWS) -> dict[str, Any]:
        document: dict[str, Any] = json.loads(self.kubectl("-n", namespace, "get", kind, name, "-o", "json"))
        return document

    def list(self, kind: str, selector: str = "", namespace: str = SHOWS) -> list[dict[str, Any]]:
        text = self.kubectl("-n", namespace, "get", kind, "-l", selector, "-o", "json")
        items: list[dict[str, Any]] = json.loads(text)["items"]
        return items

    def watch_pods(self, namespace: str, selector: str) -> subprocess.Popen[str]:
        """A process that prints the name of each pod as soon as it is told of it."""
        command = [str(self.kubectl_path), "-n", namespace, "get", "pods", "-l", selector]
        return subprocess.Popen(
            [*command, "--watch-only", "-o", "name"],
            env={**os.environ, "KUBECONFIG": str(self.kubeconfig_path)},
            stdout=subprocess.PIPE,
            text=True,
        )

    def encoder_pod(self, project: str) -> str:
        """Name of the pod that the project's status has claimed."""
        return str(self.get("project", project)["status"]["broadcast"]["pod"])

    def until(self, what: str, check: Callable[[], Any], timeout_s: float = 60.0) -> Any:
        deadline = time.monotonic() + timeout_s
        while True:
            if answer := check():
                return answer
            assert time.monotonic() < deadline, f"not within {timeout_s} s: {what}"
            time.sleep(0.1)


@pytest.fixture(scope="session")
def cluster() -> Cluster:
    """The cluster whose KUBECONFIG is set; `make up` has made it."""
    if "KUBECONFIG" not in os.environ:
        pytest.fail('no cluster is known: eval "$(make env)", or use `make test-e2e`', pytrace=False)
    cluster = Cluster(
        os.environ.get("ONAIR_CLUSTER", "onair"),
        kubeconfig=Path(os.environ["KUBECONFIG"]),
        kind_path=_program("kind"),
        kubectl_path=_program("kubectl"),
    )
    cluster.create()
    return cluster


@pytest.fixture(scope="session")
def facade(cluster: Cluster) -> Facade:
    return Facade.from_environment()


@pytest.fixture(scope="session")
def receiver() -> Receiver:
    return Receiver()


@pytest.fixture
def path() -> str:
    """A path at the receiver that no other test uses."""
    return f"live/{uuid.uuid4().hex[:12]}"


def address(path: str) -> dict[str, str]:
    """Where a destination in the cluster finds the path: url without, and key with its last part."""
    application, _, key = path.rpartition("/")
    return {"url": f"{IN_CLUSTER_RTMP}/{application}", "key": key}


def connect_of(cluster: Cluster, destination: str) -> str:
    """The destination's status.connect, `None` while nobody has written one."""
    return str(cluster.get("destination", destination).get("status", {}).get("connect"))


@pytest.fixture
def make_show(facade: Facade, cluster: Cluster) -> Iterator[Callable[..., Show]]:
    """Makes shows; all of them are ended and deleted afterwards."""
    made: list[Show] = []

    def make(page: str = PROBE, **project: Any) -> Show:
        made.append(facade.show(page, **project))
        return made[-1]

    yield make
    for show in made:
        show.delete()
    cluster.until(
        "no encoder pods left", lambda: not cluster.list("pod", "app.kubernetes.io/component=encoder")
    )


@pytest.fixture
def on_air(make_show: Callable[..., Show], receiver: Receiver, path: str) -> Show:
    """A show of the probe page, 640×360@30, that has arrived at `path`."""
    show = make_show()
    show.add_destination(**address(path))
    show.start()
    receiver.wait_ready(path, timeout_s=60)
    show.wait_phase("RUNNING")
    return show
