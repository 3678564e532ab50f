"""The encoder pod: golden manifests, and what they must never have."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.support.worlds import SETTINGS, project

from onair_crds.contract.pod import CA_CERTIFICATES_FOLDER
from onair_crds.resources.project import Project
from onair_crds.shapes import Document
from onair_encoder.paths import CA_CERTIFICATES
from onair_operator.encoder.cost import cost_of
from onair_operator.encoder.placement import regions_by_distance
from onair_operator.settings import EncoderSettings, OperatorSettings
from onair_operator.specs.claim import Claim, claimed_identity, claimed_pod
from onair_operator.specs.identity_secret import identity_secret
from onair_operator.specs.pod import pod_template

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
            authorities_config_map="ours",
            max_width=1920,
            max_height=1080,
            termination_grace_period_s=20,
        )
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


def template(show: Project, settings: OperatorSettings, avoid: frozenset[str] = frozenset()) -> Document:
    cost = cost_of(show.spec.rendering, settings.encoder.cost)
    return pod_template(
        settings.encoder, cost, regions_by_distance(show.spec.location, settings.regions), avoid
    )


def pod(show: Project, epoch: int, settings: OperatorSettings, *avoid: str) -> Document:
    return claimed_pod(template(show, settings, frozenset(avoid)), Claim(show, "run", epoch))


@pytest.mark.parametrize(
    ("name", "manifest"),
    [
        ("plain", pod(project(), 1, OperatorSettings())),
        ("regions", pod(project(), 2, SETTINGS)),
        ("all-settings", pod(project(**LOCATED), 3, ALL_SETTINGS, "node-b", "node-a")),
        ("identity", claimed_identity(identity_secret(DATA), Claim(project(), "run", 2))),
    ],
)
def test_a_claimed_manifest_is_golden_to_the_byte(name: str, manifest: Document) -> None:
    text = json.dumps(manifest, indent=2, ensure_ascii=False) + "\n"
    assert text == (GOLDEN / f"{name}.json").read_text()


def test_a_template_knows_no_show() -> None:
    unclaimed = template(project(**LOCATED), ALL_SETTINGS)
    assert set(unclaimed["metadata"]) == {"labels", "annotations"}
    assert unclaimed["metadata"]["labels"] == {"team": "live"}
    text = json.dumps(unclaimed)
    assert not [
        known for known in ("ONAIR_EPOCH", "ONAIR_POD_NAME", "hostname", "secretName") if known in text
    ]


def test_a_claim_leaves_its_template_as_it_was() -> None:
    unclaimed = template(project(), SETTINGS)
    before = json.dumps(unclaimed)
    claimed_pod(unclaimed, Claim(project(), "run", 1))
    assert json.dumps(unclaimed) == before


def test_ca_certificates_of_the_installation_are_the_encoders_alone() -> None:
    spec = pod(project(), 2, ALL_SETTINGS)["spec"]
    mounts = {c["name"]: {m["name"]: m["mountPath"] for m in c["volumeMounts"]} for c in spec["containers"]}
    assert mounts["encoder"]["authorities"] == str(CA_CERTIFICATES) == CA_CERTIFICATES_FOLDER
    assert "authorities" not in mounts["browser"]
    (volume,) = [v for v in spec["volumes"] if v["name"] == "authorities"]
    assert volume["configMap"] == {"name": "ours", "optional": True}
    assert "authorities" not in str(pod(project(), 2, SETTINGS))


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
