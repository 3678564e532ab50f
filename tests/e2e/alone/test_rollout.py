"""Rollouts under load: of the facade, which refuses no request, and of the operator, which costs no media."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from tests.support.cluster import SYSTEM, LocalCluster
from tests.support.receiver import GapMonitor, ReceiverClient
from tests.support.shows import FacadeClient, LiveShow
from tests.support.steady_requests import SteadyRequests


@pytest.fixture
def two_replicas(cluster: LocalCluster) -> Iterator[Callable[[str], None]]:
    """Gives a Deployment a second replica until the test ends, as the chart does by default."""
    changed: dict[str, int] = {}

    def scale(deployment: str) -> None:
        changed[deployment] = int(cluster.get("deployment", deployment, SYSTEM)["spec"]["replicas"])
        roll_out(cluster, deployment, "scale", f"deployment/{deployment}", "--replicas=2")

    yield scale
    for deployment, replicas in changed.items():
        roll_out(cluster, deployment, "scale", f"deployment/{deployment}", f"--replicas={replicas}")


def roll_out(cluster: LocalCluster, deployment: str, *command: str) -> None:
    cluster.kubectl("-n", SYSTEM, *command)
    cluster.kubectl("-n", SYSTEM, "rollout", "status", f"deployment/{deployment}", "--timeout=120s")


def pods_of(cluster: LocalCluster, component: str) -> set[str]:
    pods = cluster.list("pod", f"app.kubernetes.io/component={component}", SYSTEM)
    return {pod["metadata"]["uid"] for pod in pods}


def test_a_rollout_of_the_facade_refuses_no_request(
    two_replicas: Callable[[str], None], cluster: LocalCluster, facade_client: FacadeClient
) -> None:
    two_replicas("onair-api")
    show = facade_client.show("http://a.example/")
    try:
        before = pods_of(cluster, "api")
        with SteadyRequests(facade_client.http, f"/live/v2{show.path}") as requests:
            roll_out(cluster, "onair-api", "rollout", "restart", "deployment/onair-api")
            cluster.until("the old pods are gone", lambda: not before & pods_of(cluster, "api"))
        assert requests.failures == []
        assert requests.sent > 200
        assert requests.responses.keys() == {200}
    finally:
        show.delete()


def test_a_rollout_of_the_operator_costs_no_media(
    two_replicas: Callable[[str], None],
    on_air: LiveShow,
    cluster: LocalCluster,
    receiver: ReceiverClient,
    path: str,
) -> None:
    two_replicas("onair-operator")
    pod = cluster.get("pod", cluster.encoder_pod(on_air.project))["metadata"]["uid"]
    before = pods_of(cluster, "operator")
    with GapMonitor(receiver, path) as gap:
        roll_out(cluster, "onair-operator", "rollout", "restart", "deployment/onair-operator")
        cluster.until("the old pods are gone", lambda: not before & pods_of(cluster, "operator"))
        late = on_air.add_destination("rtmp://onair-mediamtx.onair-system.svc:1935/live", key=f"{path[5:]}-2")
        receiver.wait_ready(f"{path}-2", 30)
        receiver.wait_steady(path)
        on_air.remove_destination(late)
    assert gap.certain_s < 1.0
    assert cluster.get("pod", cluster.encoder_pod(on_air.project))["metadata"]["uid"] == pod
    assert on_air.status()["phase"] == "PROJECT_BROADCAST_PHASE_RUNNING"
