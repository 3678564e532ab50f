"""Tests a show of manifests alone, without the HTTP interface."""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
import yaml
from tests.support.cluster import SYSTEM, LocalCluster
from tests.support.receiver import ReceiverClient
from tests.support.shows import FacadeClient

EXAMPLES = Path(__file__).parents[3] / "examples"


@pytest.fixture
def no_facade(cluster: LocalCluster, facade_client: FacadeClient) -> Iterator[None]:
    """Scales the HTTP interface to zero for the test; the next one finds it on every node again."""
    cluster.kubectl("-n", SYSTEM, "scale", "deployment/onair-api", "--replicas=0")
    cluster.kubectl(
        "-n", SYSTEM, "wait", "--for=delete", "pod", "-l", "app.kubernetes.io/component=api", "--timeout=60s"
    )
    yield
    cluster.kubectl("-n", SYSTEM, "scale", "deployment/onair-api", "--replicas=1")
    cluster.kubectl("-n", SYSTEM, "rollout", "status", "deployment/onair-api", "--timeout=120s")
    cluster.until(
        "it responds whenever it is asked", lambda: all(_responds(facade_client) for _ in range(20))
    )


def _responds(facade: FacadeClient) -> bool:
    with contextlib.suppress(httpx.HTTPError):
        return facade.http.get("/openapi.json").is_success
    return False


def test_a_show_runs_from_manifests_alone(
    no_facade: None, cluster: LocalCluster, receiver: ReceiverClient, tmp_path: Path
) -> None:
    documents = [d for f in sorted(EXAMPLES.glob("*.yaml")) for d in yaml.safe_load_all(f.read_text()) if d]
    show = next(
        d for d in documents if d["kind"] == "Project" and d["spec"]["broadcast"]["state"] == "Running"
    )
    show["spec"]["rendering"]["video"].update(width=640, height=360)
    # As JSON: a `y` that PyYAML writes is read as `true` by kubectl
    manifests = tmp_path / "show.json"
    manifests.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": documents}))
    secret = next(d for d in documents if d["kind"] == "Secret")
    path = "live/" + next(iter(secret["stringData"].values()))
    name = show["metadata"]["name"]
    try:
        cluster.kubectl("apply", "-f", str(manifests))
        cluster.shows("wait", f"project/{name}", "--for=condition=Ready", "--timeout=60s")
        receiver.wait_ready(path, 30)
        listed = cluster.shows("get", "projects", name)
        assert "Running" in listed
        assert "1/1" in listed
        cluster.shows(
            "patch", "project", name, "--type=merge", "-p", '{"spec":{"broadcast":{"state":"Stopped"}}}'
        )
        cluster.until("the stream has ended", lambda: not receiver.ready(path), 30)
        cluster.kubectl("apply", "-f", str(manifests))
        receiver.wait_ready(path, 60)
    finally:
        started = time.monotonic()
        # What is deleted with its owner may be gone before it is its turn
        cluster.kubectl("delete", "-f", str(manifests), "--ignore-not-found", "--timeout=60s")
    assert time.monotonic() - started < 60
    assert not receiver.ready(path)
