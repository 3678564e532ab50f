"""Claims an encoder pod and its identity for a show: adds name, labels, owner, epoch. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from onair_crds.contract.labels import encoder_labels
from onair_crds.contract.owners import owner_reference
from onair_crds.contract.pod import EPOCH_VARIABLE, POD_NAME_VARIABLE
from onair_crds.resources.project import Project
from onair_crds.shapes import Document
from onair_operator.encoder.naming import pod_name
from onair_operator.specs.pod import ENCODER_CONTAINER, IDENTITY_VOLUME


@dataclass(frozen=True)
class Claim:
    """One run of a project, and which of its encoders: claims differ by their epoch."""

    project: Project
    broadcast: str
    epoch: int

    @property
    def name(self) -> str:
        return pod_name(self.project.name, self.broadcast, self.epoch)

    @property
    def labels(self) -> dict[str, str]:
        return encoder_labels(self.project.name, self.broadcast, self.epoch)

    def owner(self, *, controller: bool = False) -> Document:
        project = self.project
        return owner_reference(project.kind, project.name, project.uid, controller=controller)


def claimed_pod(template: Document, claim: Claim) -> Document:
    """The pod of a claim: the template, named and owned, with its identity mounted."""
    metadata, spec = template["metadata"], template["spec"]
    return {
        **template,
        "metadata": {
            "name": claim.name,
            "labels": {**metadata["labels"], **claim.labels},
            "annotations": metadata["annotations"],
            "ownerReferences": [claim.owner(controller=True)],
        },
        "spec": {
            "hostname": f"encoder-{claim.epoch}",
            **spec,
            "containers": [_claimed_container(container, claim) for container in spec["containers"]],
            "volumes": [_claimed_volume(volume, claim) for volume in spec["volumes"]],
        },
    }


def claimed_identity(identity: Document, claim: Claim) -> Document:
    """The identity Secret of a claim's pod, under the same name."""
    metadata = {"name": claim.name, "labels": claim.labels, "ownerReferences": [claim.owner()]}
    return {**identity, "metadata": metadata}


def _claimed_container(container: Document, claim: Claim) -> Document:
    if container["name"] != ENCODER_CONTAINER:
        return container
    env = [
        {"name": POD_NAME_VARIABLE, "value": claim.name},
        {"name": EPOCH_VARIABLE, "value": str(claim.epoch)},
    ]
    return {**container, "env": [*env, *container["env"]]}


def _claimed_volume(volume: Document, claim: Claim) -> Document:
    if volume["name"] != IDENTITY_VOLUME:
        return volume
    return {**volume, "secret": {"secretName": claim.name, **volume["secret"]}}
