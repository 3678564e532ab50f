"""Labels, annotations, finalizers and Secret types: how objects of different programs find each other."""

from __future__ import annotations

from onair_crds.resources.base import GROUP

PROJECT_LABEL = f"{GROUP}/project"
BROADCAST_LABEL = f"{GROUP}/broadcast"
EPOCH_LABEL = f"{GROUP}/epoch"
DESTINATION_LABEL = f"{GROUP}/destination"
"""On a Secret: the destination that it was made for."""
SOURCE_LABEL = f"{GROUP}/source"
"""On a Secret: the source that it was made for."""
GUEST_CODE_LABEL = f"{GROUP}/guest-code-of"
"""On a guest code's Secret: the project that it leads to."""
PART_OF_LABEL = "app.kubernetes.io/part-of"
COMPONENT_LABEL = "app.kubernetes.io/component"
MANAGED_BY_LABEL = "app.kubernetes.io/managed-by"
PRODUCT = "onair"
ENCODER_COMPONENT = "encoder"
REGION_LABEL = "topology.kubernetes.io/region"
ZONE_LABEL = "topology.kubernetes.io/zone"
"""On a node: where it is."""
SANDBOX_LABEL_PREFIX = f"sandbox.{GROUP}/"
SANDBOX_INSTALLED = "installed"
"""On a node, the value of a label of that prefix: the seccomp profile of the label's name is there."""

CREATED_ANNOTATION = f"{GROUP}/created"
"""Time of creation in microseconds; Kubernetes keeps seconds."""
EXPIRES_ANNOTATION = f"{GROUP}/expires"
"""When the object may be deleted."""
SERVICE_ANNOTATION = f"{GROUP}/service"
"""The service that a revoked token is of."""
REQUEST_ANNOTATION = f"{GROUP}/request"
"""The note that the last HTTP request left on the object that it wrote."""

BROADCAST_FINALIZER = f"{GROUP}/broadcast"

CREDENTIALS_TYPE = f"{GROUP}/credentials"
IDENTITY_TYPE = f"{GROUP}/encoder-identity"
OPERATOR_KEY_TYPE = f"{GROUP}/operator-signing-key"
SIGNING_KEY_TYPE = f"{GROUP}/signing-key"
RENDERER_KEY_TYPE = f"{GROUP}/renderer-signing-key"
API_KEY_TYPE = f"{GROUP}/api-key"
REVOKED_TOKEN_TYPE = f"{GROUP}/revoked-token"
GUEST_CODE_TYPE = f"{GROUP}/guest-code"


MADE_BY_FACADE = {MANAGED_BY_LABEL: "onair-api"}
MADE_BY_OPERATOR = {MANAGED_BY_LABEL: "onair-operator"}

ENCODER_LABELS = {PART_OF_LABEL: PRODUCT, COMPONENT_LABEL: ENCODER_COMPONENT}
"""Of every encoder pod and its identity, whatever show it has, if any."""


def claim_labels(project: str, broadcast: str, epoch: int) -> dict[str, str]:
    """Labels of what one encoder of a run has been given: its pod and its identity."""
    return {PROJECT_LABEL: project, BROADCAST_LABEL: broadcast, EPOCH_LABEL: str(epoch)}
