"""The policy of the show namespace refuses what the Pod Security level restricted refuses, and that alone."""

from __future__ import annotations

import copy
from collections.abc import Callable

import httpx
import pytest
from tests.support.control_plane import ControlPlane
from tests.support.show_pods import encoder_pod, refusal

from onair_crds.shapes import Document

STRICT = "strict"
"""A namespace where the API server itself enforces that level, of its own version."""
Change = Callable[[Document], object]


def add_volume(**source: Document) -> Change:
    return lambda spec: spec["volumes"].append({"name": "more", **source})


def of_pod(**fields: object) -> Change:
    return lambda spec: spec["securityContext"].update(fields)


def of_container(kind: str = "containers", **fields: object) -> Change:
    return lambda spec: spec[kind][0]["securityContext"].update(fields)


def asks(kind: str, **handler: Document) -> Change:
    return lambda spec: spec["containers"][0].update({kind: handler})


def unmask(spec: Document) -> None:
    spec["hostUsers"] = False
    spec["containers"][0]["securityContext"]["procMount"] = "Unmasked"


def ask_by_a_sidecar(spec: Document) -> None:
    sidecar = {**spec["containers"][0], "name": "sidecar", "restartPolicy": "Always"}
    spec.setdefault("initContainers", []).append(sidecar | {"startupProbe": {"tcpSocket": HOST}})


def be_of_the_node(spec: Document) -> None:
    context = {"windowsOptions": {"hostProcess": True}, "runAsNonRoot": True}
    container: Document = {"name": "a", "image": "example.org/a:1"}
    spec.clear()
    spec.update(os={"name": "windows"}, hostNetwork=True, securityContext=context, containers=[container])


HOST: Document = {"port": 80, "host": "192.0.2.1"}
UNCONFINED: Document = {"type": "Unconfined"}
VOLUMES = "spec.volumes: must not be of the node (hostPath), nor mounted by it past all policies"
SELINUX = "must not choose an SELinux user or role, nor a type that is not a container's"
APPARMOR = "must not be unconfined by AppArmor"
NOT_ROOT = "spec.securityContext: must not be root's, nor unconfined by seccomp"
ASKS = "must not have the node ask another host"

REFUSED: list[tuple[Change, str]] = [
    (add_volume(hostPath={"path": "/"}), VOLUMES),
    (add_volume(nfs={"server": "192.0.2.1", "path": "/"}), VOLUMES),
    (add_volume(iscsi={"targetPortal": "192.0.2.1", "iqn": "iqn.2001-04.com.example:a", "lun": 0}), VOLUMES),
    (add_volume(rbd={"monitors": ["192.0.2.1"], "image": "a"}), VOLUMES),
    (add_volume(cephfs={"monitors": ["192.0.2.1"]}), VOLUMES),
    (add_volume(glusterfs={"endpoints": "a", "path": "/"}), VOLUMES),
    (add_volume(gitRepo={"repository": "https://example.org/a"}), VOLUMES),
    (add_volume(flexVolume={"driver": "example.org/a"}), VOLUMES),
    (add_volume(fc={"wwids": ["a"]}), VOLUMES),
    (of_pod(seLinuxOptions={"type": "spc_t"}), f"spec.securityContext: {SELINUX}"),
    (of_pod(seLinuxOptions={"user": "root"}), f"spec.securityContext: {SELINUX}"),
    (of_pod(seLinuxOptions={"role": "sysadm_r"}), f"spec.securityContext: {SELINUX}"),
    (of_container(seLinuxOptions={"type": "spc_t"}), f"spec.containers: {SELINUX}"),
    (of_container(seLinuxOptions={"user": "root"}), f"spec.containers: {SELINUX}"),
    (of_container(seLinuxOptions={"role": "sysadm_r"}), f"spec.containers: {SELINUX}"),
    (of_pod(appArmorProfile=UNCONFINED), f"spec.securityContext: {APPARMOR}"),
    (of_container(appArmorProfile=UNCONFINED), f"spec.containers: {APPARMOR}"),
    (unmask, "spec.containers: must not see all of /proc (procMount)"),
    (of_pod(sysctls=[{"name": "kernel.msgmax", "value": "1"}]), "sysctls: must concern the pod alone"),
    (of_pod(sysctls=[{"name": "net.ipv4.ip_forward", "value": "1"}]), "sysctls: must concern the pod alone"),
    (of_pod(runAsNonRoot=False), NOT_ROOT),
    (of_pod(runAsUser=0), NOT_ROOT),
    (of_pod(seccompProfile=UNCONFINED), NOT_ROOT),
    (be_of_the_node, "spec: must not share a namespace of the node"),
    (asks("livenessProbe", httpGet=HOST), f"spec.containers: {ASKS}"),
    (asks("readinessProbe", tcpSocket=HOST), f"spec.containers: {ASKS}"),
    (asks("startupProbe", httpGet=HOST), f"spec.containers: {ASKS}"),
    (asks("lifecycle", postStart={"httpGet": HOST}), f"spec.containers: {ASKS}"),
    (asks("lifecycle", preStop={"tcpSocket": HOST}), f"spec.containers: {ASKS}"),
    (ask_by_a_sidecar, f"spec.initContainers: {ASKS}"),
]

CLAIM: Document = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
SAFE_SYSCTLS = [
    {"name": "kernel.shm_rmid_forced", "value": "0"},
    {"name": "net.ipv4.ip_unprivileged_port_start", "value": "1024"},
    {"name": "net.ipv4.tcp_wmem", "value": "4096 16384 4194304"},
]
ADMITTED: list[Change] = [
    lambda _: None,
    add_volume(persistentVolumeClaim={"claimName": "a"}),
    add_volume(ephemeral={"volumeClaimTemplate": {"spec": CLAIM}}),
    add_volume(csi={"driver": "csi.example.org"}),
    add_volume(downwardAPI={"items": []}),
    add_volume(projected={"sources": []}),
    add_volume(configMap={"name": "a"}),
    of_pod(seLinuxOptions={"type": "container_t", "level": "s0:c1,c2"}),
    of_container(seLinuxOptions={"type": "container_engine_t"}),
    of_pod(appArmorProfile={"type": "RuntimeDefault"}),
    of_container(appArmorProfile={"type": "Localhost", "localhostProfile": "a"}),
    of_container(procMount="Default"),
    of_pod(sysctls=SAFE_SYSCTLS),
    asks("lifecycle", preStop={"exec": {"command": ["sleep", "1"]}}),
]


@pytest.fixture(scope="module")
def strict(installed: ControlPlane, plane_client: httpx.Client) -> str:
    labels = {"pod-security.kubernetes.io/enforce": "restricted"}
    body = {"metadata": {"name": STRICT, "labels": labels}}
    plane_client.post("/api/v1/namespaces", json=body).raise_for_status()
    return STRICT


def without_rules(pod: Document, change: Change) -> Document:
    """The same change of a pod without the one container that the level would refuse."""
    changed = copy.deepcopy(pod)
    del changed["spec"]["initContainers"]
    change(changed["spec"])
    return changed


@pytest.mark.usefixtures("in_force")
@pytest.mark.parametrize(("change", "said"), REFUSED)
def test_what_the_level_refuses_is_refused(
    plane_client: httpx.Client, strict: str, change: Change, said: str
) -> None:
    pod = encoder_pod()
    changed = copy.deepcopy(pod)
    change(changed["spec"])
    assert said in refusal(plane_client, changed)
    alone = without_rules(pod, change)
    assert said in refusal(plane_client, alone)
    assert 'violates PodSecurity "restricted' in refusal(plane_client, alone, strict)


@pytest.mark.usefixtures("in_force")
@pytest.mark.parametrize("change", ADMITTED)
def test_what_the_level_admits_is_admitted(plane_client: httpx.Client, strict: str, change: Change) -> None:
    pod = encoder_pod()
    assert not refusal(plane_client, without_rules(pod, change), strict)
    change(pod["spec"])
    assert not refusal(plane_client, pod)


@pytest.mark.usefixtures("in_force")
@pytest.mark.parametrize(
    ("context", "said"),
    [({"seLinuxOptions": {"type": "spc_t"}}, SELINUX), ({"appArmorProfile": UNCONFINED}, APPARMOR)],
)
def test_the_container_that_loads_the_rules_is_confined_like_others(
    plane_client: httpx.Client, context: Document, said: str
) -> None:
    pod = encoder_pod()
    of_container("initContainers", **context)(pod["spec"])
    assert f"spec.initContainers: {said}" in refusal(plane_client, pod)


@pytest.mark.usefixtures("in_force")
@pytest.mark.parametrize(
    ("profile", "said"),
    [
        ("unconfined", "metadata.annotations: must leave no container unconfined by AppArmor"),
        ("runtime/default", ""),
        ("localhost/a", ""),
    ],
)
def test_the_annotation_of_former_versions_confines_too(
    plane_client: httpx.Client, profile: str, said: str
) -> None:
    pod = encoder_pod()
    pod["metadata"]["annotations"] = {"container.apparmor.security.beta.kubernetes.io/browser": profile}
    refused = refusal(plane_client, pod)
    assert said in refused if said else not refused, refused


@pytest.mark.usefixtures("in_force")
def test_large_pods_are_judged_within_the_limits_of_policies(plane_client: httpx.Client) -> None:
    """Beyond them the API server would refuse whatever a pod is made of."""
    pod = encoder_pod()
    spec, metadata = pod["spec"], pod["metadata"]
    browser = spec["containers"][0]
    for number in range(200):
        spec["containers"].append({**browser, "name": f"c{number}"})
        spec["initContainers"].append({**browser, "name": f"i{number}"})
        spec["volumes"] += [{"name": f"v{number}-{each}", "emptyDir": {}} for each in range(5)]
    metadata["annotations"] = {f"example.org/a{number}": "a" for number in range(2000)}
    assert not refusal(plane_client, pod)
    ask_by_a_sidecar(spec)
    assert f"spec.initContainers: {ASKS}" in refusal(plane_client, pod)
