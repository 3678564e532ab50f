"""The Secret with which an encoder pod proves who it is. Pure."""

from __future__ import annotations

from onair_crds.contract.labels import IDENTITY_TYPE
from onair_crds.shapes import Document


def identity_secret(data: dict[str, str]) -> Document:
    """A Secret with a pod's certificate and keys, `data` as text. `claimed_identity` names it."""
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "type": IDENTITY_TYPE,
        "immutable": True,
        "metadata": {},
        "stringData": data,
    }
