"""A claim on a real API server: a pod that exists already takes all that a claim adds."""

from __future__ import annotations

from tests.support.operated_namespace import OperatedNamespace
from tests.support.worlds import SETTINGS, project

from onair_crds.kube.apis import PODS, SECRETS
from onair_operator.encoder.cost import Cost
from onair_operator.specs.claim import Claim, claimed, identity_claim, pod_claim
from onair_operator.specs.identity_secret import unclaimed_identity
from onair_operator.specs.pod_manifest import unclaimed_pod


async def test_a_spare_pod_and_its_identity_can_be_claimed(operated_namespace: OperatedNamespace) -> None:
    spare = unclaimed_pod(
        "spare-1", SETTINGS.encoder, SETTINGS.inside, Cost(400, 300, 640, 256), SETTINGS.regions
    )
    identity = unclaimed_identity("spare-1", {"tls.crt": "c"})
    claim = Claim(project(), "run", 2)
    for api, manifest, patch in (
        (SECRETS, identity, identity_claim(claim)),
        (PODS, spare, pod_claim(claim)),
    ):
        before = await operated_namespace.client.create(api, operated_namespace.namespace, manifest)
        after = await operated_namespace.client.merge_patch(
            api, operated_namespace.namespace, "spare-1", patch
        )
        wanted = claimed(manifest, patch)["metadata"]
        assert {key: after["metadata"][key] for key in wanted} == wanted
        assert after["metadata"]["uid"] == before["metadata"]["uid"]
        assert after.get("spec") == before.get("spec")
