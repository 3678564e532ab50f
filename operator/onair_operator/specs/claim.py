"""What a claim adds to an encoder pod and to its identity: labels, annotations, an owner. Pure.

All of it can be added to a pod that runs already. Project, broadcast and epoch reach the encoder
itself with its first programme.
"""

from __future__ import annotations

from dataclasses import dataclass

from onair_crds.contract.labels import claim_labels
from onair_crds.contract.owners import owner_reference
from onair_crds.resources.project import Project
from onair_crds.shapes import Document

NOT_MOVED = {
    "cluster-autoscaler.kubernetes.io/safe-to-evict": "false",
    "karpenter.sh/do-not-disrupt": "true",
}
"""Annotations that autoscalers heed."""


@dataclass(frozen=True)
class Claim:
    """One run of a project, and which of its encoders: claims differ by their epoch."""

    project: Project
    broadcast: str
    epoch: int


def pod_claim(claim: Claim) -> Document:
    """The merge patch that gives a pod to a claim. A pod with a show is not moved to save a node."""
    return _patch(claim, NOT_MOVED, controller=True)


def identity_claim(claim: Claim) -> Document:
    """The merge patch that gives a pod's identity Secret to a claim; its content is immutable."""
    return _patch(claim, {}, controller=False)


def _patch(claim: Claim, annotations: dict[str, str], *, controller: bool) -> Document:
    project = claim.project
    metadata: Document = {"labels": claim_labels(project.name, claim.broadcast, claim.epoch)}
    if annotations:
        metadata["annotations"] = annotations
    owner = owner_reference(project.kind, project.name, project.uid, controller=controller)
    return {"metadata": {**metadata, "ownerReferences": [owner]}}


def claimed(manifest: Document, patch: Document) -> Document:
    """A manifest as a claim's patch leaves it, so that what is made for a claim takes one write."""
    before, added = manifest["metadata"], patch["metadata"]
    maps = {key: {**before.get(key, {}), **added[key]} for key in ("labels", "annotations") if key in added}
    return {**manifest, "metadata": {**before, **added, **maps}}
