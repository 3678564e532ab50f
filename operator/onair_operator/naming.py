"""Names, labels and annotations that the operator puts on what it makes."""

from __future__ import annotations

import hashlib
from typing import Any

from onair_crds.base import API_VERSION, GROUP, Resource

PROJECT_LABEL = f"{GROUP}/project"
BROADCAST_LABEL = f"{GROUP}/broadcast"
EPOCH_LABEL = f"{GROUP}/epoch"
DESTINATION_LABEL = f"{GROUP}/destination"
SOURCE_LABEL = f"{GROUP}/source"
COMPONENT_LABEL = "app.kubernetes.io/component"
ENCODER_COMPONENT = "encoder"
BROADCAST_FINALIZER = f"{GROUP}/broadcast"
CREDENTIALS_TYPE = f"{GROUP}/credentials"
IDENTITY_TYPE = f"{GROUP}/encoder-identity"


def pod_name(project: str, broadcast: str, epoch: int) -> str:
    """The one name that an encoder pod of this run and epoch can have."""
    return f"{project}-{broadcast}-{epoch}"


def made_up_broadcast_id(project_uid: str, generation: int, last_id: str | None) -> str:
    """An id for a run that was wanted without one: the same world gives the same id."""
    seed = f"{project_uid}/{generation}/{last_id or ''}"
    return "r" + hashlib.sha256(seed.encode()).hexdigest()[:19]


def owner_reference(resource: Resource, *, controller: bool = False) -> dict[str, Any]:
    """An owner reference to the resource, so that the garbage collector follows it."""
    reference: dict[str, Any] = {
        "apiVersion": API_VERSION,
        "kind": resource.kind,
        "name": resource.name,
        "uid": resource.uid,
    }
    if controller:
        reference["controller"] = True
    return reference


def encoder_labels(project: str, broadcast: str, epoch: int) -> dict[str, str]:
    return {
        "app.kubernetes.io/part-of": "onair",
        COMPONENT_LABEL: ENCODER_COMPONENT,
        PROJECT_LABEL: project,
        BROADCAST_LABEL: broadcast,
        EPOCH_LABEL: str(epoch),
    }
