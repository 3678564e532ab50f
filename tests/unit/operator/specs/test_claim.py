"""A claim adds only what a running pod takes, and the same whether the pod was there before or not."""

from __future__ import annotations

import copy

from tests.support.merge_patch import merged
from tests.support.worlds import SETTINGS, project

from onair_operator.encoder.cost import Cost
from onair_operator.specs.claim import Claim, claimed, identity_claim, pod_claim
from onair_operator.specs.identity_secret import unclaimed_identity
from onair_operator.specs.pod_manifest import unclaimed_pod

CLAIM = Claim(project(), "run", 2)
SPARE = unclaimed_pod(
    "spare-1", SETTINGS.encoder, SETTINGS.inside, Cost(400, 300, 640, 256), SETTINGS.regions
)
IDENTITY = unclaimed_identity("spare-1", {"tls.crt": "c"})
CHANGEABLE = {"labels", "annotations", "ownerReferences"}
"""Metadata of a running pod that may be changed, and of an immutable Secret."""


def test_a_pod_that_ran_before_its_show_equals_one_that_was_made_for_it() -> None:
    for before, patch in ((SPARE, pod_claim(CLAIM)), (IDENTITY, identity_claim(CLAIM))):
        assert set(patch) == {"metadata"}
        assert set(patch["metadata"]) <= CHANGEABLE
        assert merged(before, patch) == claimed(before, patch)


def test_a_claim_adds_project_run_and_epoch_and_keeps_what_a_pod_is() -> None:
    metadata = claimed(SPARE, pod_claim(CLAIM))["metadata"]
    assert metadata["name"] == "spare-1"
    assert metadata["labels"] == {
        **SPARE["metadata"]["labels"],
        "onair.dev/project": "show",
        "onair.dev/broadcast": "run",
        "onair.dev/epoch": "2",
    }
    (owner,) = metadata["ownerReferences"]
    assert (owner["kind"], owner["name"], owner["controller"]) == ("Project", "show", True)


def test_a_claim_leaves_the_pod_that_it_is_given_as_it_was() -> None:
    before = copy.deepcopy(SPARE)
    claimed(SPARE, pod_claim(CLAIM))
    assert before == SPARE
