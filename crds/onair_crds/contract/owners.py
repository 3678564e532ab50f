"""Owner references, which the garbage collector follows."""

from __future__ import annotations

from onair_crds.resources.base import API_VERSION
from onair_crds.shapes import Document


def owner_reference(kind: str, name: str, uid: str, *, controller: bool = False) -> Document:
    """A reference to one of our resources: its child is deleted with it."""
    reference: Document = {"apiVersion": API_VERSION, "kind": kind, "name": name, "uid": uid}
    if controller:
        reference["controller"] = True
    return reference


def is_owned_by(metadata: Document, uid: str) -> bool:
    """Whether an object's metadata names this owner."""
    return any(owner["uid"] == uid for owner in metadata.get("ownerReferences") or [])
