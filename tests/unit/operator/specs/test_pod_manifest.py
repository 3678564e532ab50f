"""The encoder pod: golden manifests, and what they must never have."""

from __future__ import annotations

import json
from ipaddress import ip_network
from pathlib import Path

import pytest
from tests.support.worlds import SETTINGS, project

from onair_crds.contract.inside_addresses import InsideRules
from onair_crds.contract.page_network import VARIABLE, PageNetwork
from onair_crds.contract.pod import (
    CA_CERTIFICATES_FOLDER,
    POD_NAME_VARIABLE,
    SANDBOX_VARIABLE,
    SandboxMode,
)
from onair_crds.resources.project import Project
from onair_crds.shapes import Document
from onair_encoder.paths import CA_CERTIFICATES
from onair_operator.encoder.cost import cost_of
from onair_operator.encoder.placement import regions_by_distance
from onair_operator.settings import (
    EncoderNetworkSettings,
    EncoderSettings,
    OperatorSettings,
    SandboxSettings,
)
from onair_operator.specs.claim import Claim, claimed, identity_claim, pod_claim
from onair_operator.specs.identity_secret import unclaimed_identity
from onair_operator.specs.pod_manifest import unclaimed_pod

GOLDEN = Path(__file__).parent / "golden"
DATA = {"tls.crt": "c", "tls.key": "k", "verify.pem": "v", "snapshot.key": "s"}
ALL_SETTINGS = SETTINGS.model_copy(
    update={
        "encoder": EncoderSettings(
            image="registry.example/encoder:1",
            image_pull_policy="Always",
            image_pull_secrets=["pull"],
            priority_class_name="shows",
            node_selector={"pool": "shows"},
            tolerations=[{"key": "shows", "operator": "Exists"}],
            labels={"team": "live"},
            pod_annotations={"linkerd.io/inject": "disabled", "karpenter.sh/do-not-disrupt": "false"},
            authorities_config_map="ours",
            max_width=1920,
            max_height=1080,
            termination_grace_period_s=20,
            sandbox=SandboxSettings(localhost_profile="onair/chromium-0.json", node_label="profile-0"),
            network=EncoderNetworkSettings.model_validate(
                {"nameServers": ["10.244.0.0/16"], "roomUdpPort": 30882, "roomTcpPort": 30881}
            ),
        ),
        "inside": InsideRules(
            allowed_hosts=("pages.example.internal:80",),
            allowed_ranges=(ip_network("10.20.0.0/16"),),
            refused_ranges=(ip_network("198.51.0.0/16"),),
        ),
    }
)
LOCATED: Document = {
    "location": {"latitude": 48.1, "longitude": 11.6},
    "rendering": {
        "video": {"width": 1920, "height": 1080, "framerate": 60},
        "quality": "High",
        "complexity": 2,
    },
}


def unclaimed(show: Project, name: str, settings: OperatorSettings, *avoid: str) -> Document:
    cost = cost_of(show.spec.rendering, settings.encoder.cost)
    regions = regions_by_distance(show.spec.location, settings.regions)
    return unclaimed_pod(name, settings.encoder, settings.inside, cost, regions, frozenset(avoid))


def pod(show: Project, epoch: int, settings: OperatorSettings, *avoid: str) -> Document:
    return claimed(
        unclaimed(show, f"show-run-{epoch}", settings, *avoid), pod_claim(Claim(show, "run", epoch))
    )


def identity(claim: Claim) -> Document:
    return claimed(unclaimed_identity("show-run-2", DATA), identity_claim(claim))


@pytest.mark.parametrize(
    ("name", "manifest"),
    [
        ("plain", pod(project(), 1, OperatorSettings())),
        ("regions", pod(project(), 2, SETTINGS)),
        ("all-settings", pod(project(**LOCATED), 3, ALL_SETTINGS, "node-b", "node-a")),
        ("identity", identity(Claim(project(), "run", 2))),
    ],
)
def test_a_claimed_manifest_is_golden_to_the_byte(name: str, manifest: Document) -> None:
    text = json.dumps(manifest, indent=2, ensure_ascii=False) + "\n"
    assert text == (GOLDEN / f"{name}.json").read_text()


def test_an_unclaimed_pod_is_complete_and_knows_no_show() -> None:
    manifest = unclaimed(project(**LOCATED), "spare-1", ALL_SETTINGS)
    assert manifest["metadata"]["name"] == "spare-1"
    assert not {key for key in manifest["metadata"]["labels"] if key.startswith("onair.dev/")}
    spec = manifest["spec"]
    assert "hostname" not in spec
    (mounted,) = [volume["secret"] for volume in spec["volumes"] if volume["name"] == "identity"]
    assert mounted["secretName"] == "spare-1" == unclaimed_identity("spare-1", DATA)["metadata"]["name"]
    (encoder,) = [each for each in spec["containers"] if each["name"] == "encoder"]
    (name,) = [each for each in encoder["env"] if each["name"] == POD_NAME_VARIABLE]
    assert name["valueFrom"] == {"fieldRef": {"fieldPath": "metadata.name"}}


def test_ca_certificates_of_the_installation_are_the_encoders_alone() -> None:
    spec = pod(project(), 2, ALL_SETTINGS)["spec"]
    mounts = {c["name"]: {m["name"]: m["mountPath"] for m in c["volumeMounts"]} for c in spec["containers"]}
    assert mounts["encoder"]["authorities"] == str(CA_CERTIFICATES) == CA_CERTIFICATES_FOLDER
    assert "authorities" not in mounts["browser"]
    (volume,) = [v for v in spec["volumes"] if v["name"] == "authorities"]
    assert volume["configMap"] == {"name": "ours", "optional": True}
    assert "authorities" not in str(pod(project(), 2, SETTINGS))


def in_sandbox(mode: SandboxMode) -> Document:
    sandbox = SandboxSettings(
        mode=mode, localhost_profile="onair/a.json", node_label="has-a", runtime_class_name="gvisor"
    )
    encoder = ALL_SETTINGS.encoder.model_copy(update={"sandbox": sandbox})
    return pod(project(), 1, ALL_SETTINGS.model_copy(update={"encoder": encoder}))


def sandboxed(mode: SandboxMode) -> tuple[Document, Document, Document]:
    """A pod's spec, and its containers, browser and encoder."""
    spec = in_sandbox(mode)["spec"]
    browser, other = spec["containers"]
    assert {"name": SANDBOX_VARIABLE, "value": mode.value} in browser["env"]
    assert spec["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    assert "seccompProfile" not in other["securityContext"]
    return spec, browser, other


def test_the_browser_alone_has_the_profile_of_its_sandbox_on_nodes_that_have_it() -> None:
    spec, browser, _ = sandboxed(SandboxMode.SECCOMP)
    profile = {"type": "Localhost", "localhostProfile": "onair/a.json"}
    assert browser["securityContext"]["seccompProfile"] == profile
    assert spec["nodeSelector"] == {"pool": "shows", "has-a": "installed"}
    assert "runtimeClassName" not in spec


def test_a_runtime_class_needs_no_profile_and_no_label() -> None:
    spec, browser, _ = sandboxed(SandboxMode.RUNTIME_CLASS)
    assert spec["runtimeClassName"] == "gvisor"
    assert spec["nodeSelector"] == {"pool": "shows"}
    assert "seccompProfile" not in browser["securityContext"]


def test_gvisor_is_told_what_containers_share() -> None:
    """Without, each has a volume to itself, and what listens in one container is not found by the other."""
    made = in_sandbox(SandboxMode.RUNTIME_CLASS)
    told = {key: value for key, value in made["metadata"]["annotations"].items() if "gvisor" in key}
    browser, other = (
        {mount["name"] for mount in container["volumeMounts"]} for container in made["spec"]["containers"]
    )
    fields = {"type": "tmpfs", "share": "pod", "options": "rw"}
    assert told == {
        f"dev.gvisor.spec.mount.{name}.{field}": fields[field] for name in browser & other for field in fields
    }
    for mode in (SandboxMode.SECCOMP, SandboxMode.NONE):
        assert "gvisor" not in str(in_sandbox(mode)["metadata"])


def test_without_a_sandbox_a_pod_is_what_it_was() -> None:
    spec, browser, _ = sandboxed(SandboxMode.NONE)
    assert spec["nodeSelector"] == {"pool": "shows"}
    assert "runtimeClassName" not in spec
    assert "seccompProfile" not in browser["securityContext"]


def test_a_dead_name_server_costs_a_second() -> None:
    options = pod(project(), 2, SETTINGS)["spec"]["dnsConfig"]["options"]
    assert {each["name"]: each["value"] for each in options} == {"timeout": "1", "attempts": "5"}


def test_an_encoder_pod_has_no_rights() -> None:
    manifest = pod(project(), 2, SETTINGS)
    spec = manifest["spec"]
    assert manifest["metadata"]["name"] == "show-run-2"
    assert spec["automountServiceAccountToken"] is False
    assert spec["securityContext"]["runAsNonRoot"] is True
    users = set()
    for container in spec["containers"]:
        security = container["securityContext"]
        assert security["readOnlyRootFilesystem"] is True
        assert security["allowPrivilegeEscalation"] is False
        assert security["capabilities"] == {"drop": ["ALL"]}
        assert set(container["resources"]["requests"]) == {"cpu", "memory"}
        users.add(security["runAsUser"])
    assert len(users) == 2
    assert 0 not in users
    mounts = {c["name"]: {m["name"] for m in c["volumeMounts"]} for c in spec["containers"]}
    assert {"program", "identity"} & mounts["browser"] == set()


def test_one_container_alone_may_change_the_network_and_ends_before_the_others_start() -> None:
    spec = pod(project(), 2, ALL_SETTINGS)["spec"]
    (network,) = spec["initContainers"]
    security = network["securityContext"]
    assert security["capabilities"] == {"drop": ["ALL"], "add": ["NET_ADMIN"]}
    assert (security["readOnlyRootFilesystem"], security["allowPrivilegeEscalation"]) == (True, False)
    assert "restartPolicy" not in network
    assert "volumeMounts" not in network
    (text,) = [each["value"] for each in network["env"] if each["name"] == VARIABLE]
    assert PageNetwork.of_text(text) == PageNetwork(
        allowed_hosts=("pages.example.internal:80",),
        allowed_ranges=("10.20.0.0/16",),
        refused_ranges=("198.51.0.0/16",),
        name_servers=("10.244.0.0/16",),
        room_udp_port=30882,
        room_tcp_port=30881,
    )
    without = ALL_SETTINGS.encoder.model_copy(update={"network": EncoderNetworkSettings(rules=False)})
    settings = ALL_SETTINGS.model_copy(update={"encoder": without})
    assert "initContainers" not in pod(project(), 2, settings)["spec"]


def test_an_encoder_stays_on_a_node_that_the_api_server_cannot_reach() -> None:
    tolerations = pod(project(), 2, SETTINGS)["spec"]["tolerations"]
    assert {(each["key"], each["effect"]) for each in tolerations if "tolerationSeconds" not in each} == {
        ("node.kubernetes.io/not-ready", "NoExecute"),
        ("node.kubernetes.io/unreachable", "NoExecute"),
    }
