"""The chart's NetworkPolicies where a network enforces them: what needs to pass does, and nothing else."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import yaml
from tests.e2e.test_rooms import (
    test_two_browsers_see_and_hear_each_other_and_a_camera_until_the_room_is_closed,
)
from tests.e2e.test_sources import test_what_is_pushed_by_rtmp_is_on_the_page_and_at_the_rtmp_server
from tests.support.cluster import SHOWS, SYSTEM, LocalCluster
from tests.support.inside import CONNECT
from tests.support.network_policies import Enforcement, enforced
from tests.support.shows import LiveShow

__all__ = [
    "test_two_browsers_see_and_hear_each_other_and_a_camera_until_the_room_is_closed",
    "test_what_is_pushed_by_rtmp_is_on_the_page_and_at_the_rtmp_server",
]

ELSEWHERE = "default"
BYSTANDER = "bystander"
LISTENS = 8000


@pytest.fixture(autouse=True, scope="module")
def policies(cluster: LocalCluster) -> Iterator[Enforcement]:
    with enforced(cluster) as enforcement:
        yield enforcement


@pytest.fixture
def bystanders(cluster: LocalCluster) -> Iterator[None]:
    """A pod beside the encoders and one in a namespace of somebody else; they listen, too."""
    facade = cluster.list("pod", "app.kubernetes.io/component=api", SYSTEM)[0]
    container = {
        "name": "python",
        "image": facade["spec"]["containers"][0]["image"],
        "command": ["python3", "-m", "http.server", str(LISTENS), "--directory", "/proc/self/net"],
        "readinessProbe": {"tcpSocket": {"port": LISTENS}, "periodSeconds": 1},
        "securityContext": {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}},
    }
    spec = {
        "terminationGracePeriodSeconds": 0,
        "automountServiceAccountToken": False,
        "securityContext": {
            "runAsNonRoot": True,
            "runAsUser": 65532,
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        "containers": [container],
    }
    metadata = {"name": BYSTANDER, "labels": {"app": BYSTANDER}}
    pods = [
        {"apiVersion": "v1", "kind": "Pod", "metadata": {**metadata, "namespace": each}, "spec": spec}
        for each in (SHOWS, ELSEWHERE)
    ]
    cluster.kubectl("apply", "-f", "-", input=yaml.safe_dump_all(pods))
    for each in (SHOWS, ELSEWHERE):
        cluster.kubectl("-n", each, "wait", "--for=condition=Ready", f"pod/{BYSTANDER}", "--timeout=60s")
    yield
    for each in (SHOWS, ELSEWHERE):
        cluster.kubectl("-n", each, "delete", "pod", BYSTANDER, "--ignore-not-found", "--wait=false")


def test_what_no_policy_allows_reaches_nothing(
    on_air: LiveShow, cluster: LocalCluster, policies: Enforcement, bystanders: None
) -> None:
    def at(component: str, port: int, namespace: str = SYSTEM) -> str:
        pod = cluster.list("pod", f"app.kubernetes.io/component={component}", namespace)[0]
        return f"{pod['status']['podIP']}:{port}"

    def bystander(namespace: str) -> str:
        return f"{cluster.get('pod', BYSTANDER, namespace)['status']['podIP']}:{LISTENS}"

    encoder = cluster.encoder_pod(on_air.project)
    everywhere = {
        "the API server": f"{cluster.get('service', 'kubernetes', 'default')['spec']['clusterIP']}:443",
        "the kubelet": f"{cluster.get('pod', encoder)['status']['hostIP']}:10250",
        "Redis": at("redis", 6379),
        "the facade": at("api", 8080),
        "the facade's metrics": at("api", 9090),
        "the facade's hook": at("api", 8449),
        "ingest by RTMP": at("ingest", 1935),
        "the gateway": at("ingest", 8448),
        "the gateway's metrics": at("ingest", 9090),
        "rooms' signalling": at("livekit", 7880),
        "MediaMTX": at("mediamtx", 1935),
        "MediaMTX's API": at("mediamtx", 9997),
        "the encoder's control": at("encoder", 8443, SHOWS),
        "the encoder's metrics": at("encoder", 9090, SHOWS),
        "a pod beside the encoder": bystander(SHOWS),
        "a pod elsewhere": bystander(ELSEWHERE),
    }
    names = {address: name for name, address in everywhere.items()}

    def reached(namespace: str, pod: str, *container: str) -> set[str]:
        command = ["exec", pod, *container, "--", "python3", "-c", CONNECT, *names]
        return {names[each] for each in cluster.kubectl("-n", namespace, *command).split()}

    beside, elsewhere = (SHOWS, BYSTANDER), (ELSEWHERE, BYSTANDER)
    programme = (SHOWS, encoder, "-c", "encoder")
    with policies.suspended():
        assert all(reached(*each) == {*everywhere} for each in (beside, elsewhere, programme))
    assert reached(*beside) == set()
    assert reached(*elsewhere) == {
        "the API server",
        "the kubelet",
        "the facade",
        "the facade's metrics",
        "ingest by RTMP",
        "the gateway's metrics",
        "MediaMTX",
        "the encoder's metrics",
        "a pod elsewhere",
    }
    assert reached(*programme) == {
        "the facade",
        "the gateway",
        "MediaMTX",
        # Its own, which never leave the pod
        "the encoder's control",
        "the encoder's metrics",
    }
