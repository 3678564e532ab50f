"""Finds an object's project, collection and owner; remembers them for a while after deletion."""

from __future__ import annotations

from collections import OrderedDict

from onair_api.access.audiences import Owner
from onair_api.access.ownership import owner_in
from onair_api.access.target import Target
from onair_api.cache.watched_kinds import COLLECTION, DESTINATION, LAYOUT, PROJECT, SOURCE
from onair_crds.kube.store import Entry

DELETED_KEPT = 20_000

PARENT = {
    PROJECT: (COLLECTION, "collectionId"),
    SOURCE: (COLLECTION, "collectionId"),
    DESTINATION: (PROJECT, "projectId"),
    LAYOUT: (PROJECT, "projectId"),
}
"""By kind: the kind of its parent, and the field of its spec that names the parent."""


class Parents:
    def __init__(self) -> None:
        self._collections: dict[str, str] = {}
        """By project."""
        self._owners: dict[str, Owner] = {}
        """By collection."""
        self._deleted: OrderedDict[tuple[str, str], None] = OrderedDict()

    def learn(self, entry: Entry) -> None:
        """Takes what a watch says of an object; only projects and collections are parents."""
        if entry.kind == PROJECT:
            self._collections[entry.name] = str(entry.spec.get("collectionId"))
        elif entry.kind == COLLECTION:
            if owner := owner_in(entry):
                self._owners[entry.name] = owner
        else:
            return
        self._deleted.pop((entry.kind, entry.name), None)

    def forget(self, entry: Entry) -> None:
        """It was deleted; events of its children may still come."""
        if entry.kind not in (PROJECT, COLLECTION):
            return
        self._deleted[entry.kind, entry.name] = None
        if len(self._deleted) > DELETED_KEPT:
            (kind, name), _ = self._deleted.popitem(last=False)
            if kind == PROJECT:
                self._collections.pop(name, None)
            else:
                self._owners.pop(name, None)

    def find(self, entry: Entry) -> tuple[Target, Owner | None]:
        """The target of an object's events, complete, and the owner of its collection, if that is known."""
        target = self._target(entry)
        return target, self._owners.get(target.collection_id) if target.collection_id else None

    def _target(self, entry: Entry) -> Target:
        spec = entry.spec
        if entry.kind == COLLECTION:
            return Target(entry.name)
        if entry.kind == SOURCE:
            return Target(spec.get("collectionId"))
        if entry.kind == PROJECT:
            return Target(spec.get("collectionId"), entry.name)
        project_id = str(spec.get("projectId"))
        layout_id = entry.name if entry.kind == LAYOUT else None
        return Target(self._collections.get(project_id), project_id, layout_id)
