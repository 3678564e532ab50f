"""Whose a key is: the service that owns the collection of what it names."""

from __future__ import annotations

from onair_crds.kube.store import Store
from onair_operator.cluster.queue import Key
from onair_operator.cluster.source_streams import source_of
from onair_operator.cluster.watched_kinds import (
    COLLECTION,
    DESTINATION,
    GATEWAY,
    MADE_FOR,
    NODE,
    PROJECT,
    SECRET,
    SOURCE,
    STREAM,
)

OF_THE_INSTALLATION = ""
PARENTS = {
    DESTINATION: (PROJECT, "projectId"),
    PROJECT: (COLLECTION, "collectionId"),
    SOURCE: (COLLECTION, "collectionId"),
}
"""The kind of what each belongs to, and the field of the spec that names it."""


def service_of(store: Store, key: Key) -> str | None:
    """The id of the service; None if it is not known, as of what is gone or of a collection that is."""
    kind, name = key
    if kind in (GATEWAY, NODE):
        return OF_THE_INSTALLATION
    if kind == STREAM:
        kind, name = SOURCE, source_of(store, name) or ""
    elif kind == SECRET:
        secret = store.entry(SECRET, name)
        labels = secret.labels if secret else {}
        kind, name = next(((MADE_FOR[each], labels[each]) for each in MADE_FOR if each in labels), (kind, ""))
    while kind in PARENTS:
        child = store.entry(kind, name)
        kind, field = PARENTS[kind]
        name = str(child.spec.get(field)) if child else ""
    collection = store.entry(kind, name)
    return ((collection.spec.get("owner") if collection else None) or {}).get("serviceId")
