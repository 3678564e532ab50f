"""The Secret with which an encoder pod proves who it is. Pure."""

from __future__ import annotations

from onair_crds.contract.labels import ENCODER_LABELS, IDENTITY_TYPE
from onair_crds.shapes import Document


def unclaimed_identity(name: str, data: dict[str, str]) -> Document:
    """A Secret with the certificate and keys of the pod of this name, `data` as text."""
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "type": IDENTITY_TYPE,
        "immutable": True,
        "metadata": {"name": name, "labels": dict(ENCODER_LABELS)},
        "stringData": data,
    }
