"""Owner references, which the garbage collector follows."""

from __future__ import annotations

from onair_crds.resources.base import API_VERSION, GROUP
from onair_crds.shapes import Document

TRACKING_ANNOTATION = "argocd.argoproj.io/tracking-id"
"""By which Argo CD finds what it has applied."""


def owner_reference(kind: str, name: str, uid: str, *, controller: bool = False) -> Document:
    """A reference to one of our resources: its child is deleted with it."""
    reference: Document = {"apiVersion": API_VERSION, "kind": kind, "name": name, "uid": uid}
    if controller:
        reference["controller"] = True
    return reference


def is_owned_by(metadata: Document, uid: str) -> bool:
    """Whether an object's metadata names this owner."""
    return any(owner["uid"] == uid for owner in metadata.get("ownerReferences") or [])


def is_tracked(metadata: Document) -> bool:
    """Whether Argo CD manages an object: it deletes what is gone from Git, unless that has an owner."""
    return TRACKING_ANNOTATION in (metadata.get("annotations") or {})


def other_owners(metadata: Document) -> list[Document]:
    """The owner references of an object that name none of our resources."""
    return [each for each in metadata.get("ownerReferences") or [] if not _names_ours(each)]


def owner_is_wrong(metadata: Document, uid: str) -> bool:
    """Whether an object is yet to get its owner, or to lose the one that it has."""
    if is_tracked(metadata):
        return any(_names_ours(each) for each in metadata.get("ownerReferences") or [])
    return not is_owned_by(metadata, uid)


def _names_ours(reference: Document) -> bool:
    return str(reference.get("apiVersion")).startswith(f"{GROUP}/")
