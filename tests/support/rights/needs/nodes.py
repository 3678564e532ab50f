"""What goes wrong with nodes that nobody may look at, or label."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator

import pytest
from structlog.testing import capture_logs
from tests.support.helm import NAMESPACE
from tests.support.node_labeller import labeller
from tests.support.rights.installation import Installation
from tests.support.rights.need import Scenario
from tests.support.rights.objects import NODES, pod_of, wait

from onair_crds.contract.times import format_time
from onair_operator import reconcile
from onair_operator.cluster import ingest_pods, node_leases
from onair_operator.node import observe, plan
from onair_operator.sandbox.node_label import LabelRefused

LEASES = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases"
RELEASE_PODS = f"/api/v1/namespaces/{NAMESPACE}/pods"
STALE_AFTER_S = 1.0


def dead_node(installation: Installation) -> Iterator[None]:
    """A show stays with the encoder on it, and the operator's log says once what it lacks."""
    dead, alive = two_nodes(installation)
    with pytest.MonkeyPatch.context() as quick:
        judge_soon(quick)
        installation.stop_operator()
        installation.operate()
        show = installation.show()
        wait("its pod is there", lambda: installation.exists(pod_of(show)))
        with capture_logs() as logs:
            yield
            installation.wait_refused(2)
            told = [each["event"] for each in logs if each["log_level"] == "warning"]
        assert told.count("node-leases.forbidden") == 1, told
        target = {"apiVersion": "v1", "kind": "Node", "name": dead}
        installation.create(f"{pod_of(show)}/binding", metadata={"name": f"{show}-a-1"}, target=target)

        def replaced() -> bool:
            renew(installation, alive)
            return installation.exists(pod_of(show, epoch=2))

        wait("it has looked for long", lambda: refused_for_long(installation, alive))
        assert not replaced()
        yield
        wait("another encoder is there", replaced)


def ingest_of_a_dead_node(name: str) -> Scenario:
    """Its pod stays, and a StatefulSet makes no other one."""
    pod = f"{RELEASE_PODS}/{name}"

    def scenario(installation: Installation) -> Iterator[None]:
        dead, alive = two_nodes(installation)
        with pytest.MonkeyPatch.context() as quick:
            judge_soon(quick)
            installation.stop_operator()
            installation.operate()
            container = {"name": "gateway", "image": "onair/ingest"}
            spec = {"nodeName": dead, "containers": [container]}
            installation.create(RELEASE_PODS, metadata={"name": name}, spec=spec)
            yield
            installation.delete(pod)

            def gone() -> bool:
                renew(installation, alive)
                return not installation.exists(pod)

            wait("it has been refused for long", lambda: refused_for_long(installation, alive))
            assert not gone()
            yield
            wait("it is gone", gone)

    return scenario


def two_nodes(installation: Installation) -> tuple[str, str]:
    """The names of one that will not renew its Lease, and of one that does, of no others."""
    for lease in installation.listed(LEASES):
        installation.delete(f"{LEASES}/{lease['metadata']['name']}")
    dead, alive = installation.name("dead"), installation.name("alive")
    renew(installation, dead)
    renew(installation, alive)
    return dead, alive


def judge_soon(quick: pytest.MonkeyPatch) -> None:
    """Has operators that begin from now on find dead nodes within a second or two."""
    quick.setattr(observe, "SILENT_AFTER_S", 0.1)
    quick.setattr(plan, "STALE_AFTER_S", STALE_AFTER_S)
    quick.setattr(node_leases, "INTERVAL_S", 0.2)
    quick.setattr(ingest_pods, "INTERVAL_S", 0.2)
    quick.setattr(reconcile, "NODE_INTERVAL_S", 0.2)


def refused_for_long(installation: Installation, alive: str) -> bool:
    """Whether refusals go back for longer than it takes to find a node dead, while another one renews."""
    renew(installation, alive)
    looks = [each.received for each in installation.refusals()]
    return bool(looks) and max(looks) - min(looks) > dt.timedelta(seconds=2 * STALE_AFTER_S)


def renew(installation: Installation, node: str) -> None:
    """What a kubelet does."""
    spec = {"holderIdentity": node, "renewTime": format_time(dt.datetime.now(dt.UTC), "microseconds")}
    if installation.exists(f"{LEASES}/{node}"):
        installation.patch(f"{LEASES}/{node}", spec=spec)
    else:
        installation.create(LEASES, metadata={"name": node}, spec=spec)


def unlabelled_node(installation: Installation) -> Iterator[None]:
    """No encoder may be on a node that has the profile of the sandbox."""
    node, label = installation.name("node"), installation.sandbox_label
    installation.create(NODES, metadata={"name": node})

    def is_labelled() -> bool:
        return node in [each["metadata"]["name"] for each in installation.listed(NODES, labelSelector=label)]

    with pytest.MonkeyPatch.context() as variables:
        folder = installation.folder / "account"
        written = labeller(installation.plane, installation.admin, node, label, folder, variables)
        yield
        with pytest.raises(LabelRefused):
            written.write("installed")
        assert not is_labelled()
        yield
        written.write("installed")
        assert is_labelled()
