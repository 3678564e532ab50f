"""Pages of the cluster's pods are in Chromium's sandbox, by the profile that the chart brings to nodes."""

from __future__ import annotations

from tests.support.cluster import SHOWS, LocalCluster
from tests.support.renderers import renderers
from tests.support.shows import LiveShow

from onair_crds.contract.labels import SANDBOX_INSTALLED, SANDBOX_LABEL_PREFIX
from onair_crds.shapes import Document

NAMESPACE = "onair-sandbox"


def label_of(pod: Document) -> str:
    (label,) = [each for each in pod["spec"]["nodeSelector"] if each.startswith(SANDBOX_LABEL_PREFIX)]
    return str(label)


def test_renderers_of_a_show_are_sandboxed_by_the_profile_of_their_node(
    on_air: LiveShow, cluster: LocalCluster
) -> None:
    name = cluster.encoder_pod(on_air.project)
    pod = cluster.get("pod", name)
    (browser,) = [each for each in pod["spec"]["containers"] if each["name"] == "browser"]
    assert browser["securityContext"]["seccompProfile"]["type"] == "Localhost"

    def run(*command: str) -> str:
        return cluster.kubectl("-n", SHOWS, "exec", name, "-c", "browser", "--", *command)

    found = renderers(run)
    assert found
    assert all(each.is_sandboxed for each in found)


def test_nodes_are_labelled_where_a_pod_of_the_daemon_set_is_ready(
    on_air: LiveShow, cluster: LocalCluster
) -> None:
    """A label that somebody removes comes back, at the latest with the next pod."""
    label = label_of(cluster.get("pod", cluster.encoder_pod(on_air.project)))
    selector = "app.kubernetes.io/component=sandbox"

    def labelled() -> set[str]:
        nodes = cluster.list("node", f"{label}={SANDBOX_INSTALLED}")
        return {each["metadata"]["name"] for each in nodes}

    pods = cluster.list("pod", selector, NAMESPACE)
    assert {each["spec"]["nodeName"] for each in pods} == labelled() != set()
    first = pods[0]
    cluster.kubectl("label", "node", first["spec"]["nodeName"], f"{label}-")
    assert first["spec"]["nodeName"] not in labelled()
    cluster.kubectl("-n", NAMESPACE, "delete", "pod", first["metadata"]["name"])
    cluster.until("labelled again", lambda: first["spec"]["nodeName"] in labelled(), 60)
