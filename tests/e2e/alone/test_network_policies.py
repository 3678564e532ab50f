"""What the chart's NetworkPolicies let through where a network enforces them.

That it is enough, tests of sources and rooms show.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import yaml
from tests.support.cluster import SHOWS, SYSTEM, LocalCluster
from tests.support.inside import CONNECT
from tests.support.network_policies import Enforcement
from tests.support.shows import LiveShow

ELSEWHERE = "default"
BYSTANDER = "bystander"
LISTENS = 8000


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
    # What is in the pod itself never leaves it
    assert reached(*beside) == {"a pod beside the encoder"}
    assert reached(*elsewhere) == {
        "the API server",
        "the kubelet",
        "the facade",
        "the facade's metrics",
        "ingest by RTMP",
        "the gateway's metrics",
        "MediaMTX",
        "MediaMTX's API",  # by a policy of the local cluster, for tests
        "the encoder's metrics",
        "a pod elsewhere",
    }
    assert reached(*programme) == {
        "the facade",
        "the gateway",
        "rooms' signalling",
        "MediaMTX",
        "the encoder's control",
        "the encoder's metrics",
    }
