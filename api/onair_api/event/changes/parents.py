"""Finds an object's project and collection, and who may see it; remembers them for a while after deletion."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable
from typing import NamedTuple

from onair_api.access.audiences import AudienceKey, Owner, audiences_of, owner_key, project_key
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


class Parent(NamedTuple):
    """A parent by its name."""

    kind: str
    name: str


class Parents:
    """What is known of parents."""

    def __init__(self) -> None:
        self._collections: dict[str, str] = {}
        """By project."""
        self._uids: dict[str, str] = {}
        """By project."""
        self._owners: dict[str, Owner] = {}
        """By collection."""
        self._deleted: OrderedDict[tuple[str, str], None] = OrderedDict()

    def learn(self, entry: Entry) -> None:
        """Takes what a watch says of an object; only projects and collections are parents."""
        if entry.kind == PROJECT:
            self._collections[entry.name] = str(entry.spec.get("collectionId"))
            self._uids[entry.name] = entry.uid
        elif entry.kind == COLLECTION:
            if owner := owner_in(entry):
                self._owners[entry.name] = owner
        else:
            return
        self._deleted.pop((entry.kind, entry.name), None)

    def remember(self, entry: Entry) -> None:
        """Takes what was looked up of an object. What a watch said of it is not changed.

        Until a watch brings it, it is kept as long as what is deleted: it may be gone before one does.
        """
        if not self._knows(entry.kind, entry.name):
            self.learn(entry)
            self.forget(entry)

    def missing(self, entry: Entry) -> Parent | None:
        """The next parent of an object that is not known, without which nobody can say who may see it."""
        kind, name = entry.kind, entry.name
        if kind in (LAYOUT, DESTINATION):
            kind, name = PROJECT, str(entry.spec.get("projectId"))
            if not self._knows(kind, name):
                return Parent(kind, name)
            name = self._collections[name]
        elif kind in PARENT:
            name = str(entry.spec.get("collectionId"))
        else:
            return None
        return None if self._knows(COLLECTION, name) else Parent(COLLECTION, name)

    def _knows(self, kind: str, name: str) -> bool:
        return name in (self._collections if kind == PROJECT else self._owners)

    def forget(self, entry: Entry) -> None:
        """Notes that an object was deleted; events of its children may still come."""
        if entry.kind not in (PROJECT, COLLECTION):
            return
        self._deleted[entry.kind, entry.name] = None
        if len(self._deleted) > DELETED_KEPT:
            (kind, name), _ = self._deleted.popitem(last=False)
            if kind == PROJECT:
                self._collections.pop(name, None)
                self._uids.pop(name, None)
            else:
                self._owners.pop(name, None)

    def audiences(
        self, entry: Entry, target: Target, projects: Iterable[str] = ()
    ) -> tuple[AudienceKey, ...]:
        """Who may see an event of an object; nobody if the owner of its collection is not known.

        Args:
            target: of the event, complete.
            projects: those whose guests see what belongs to their collection, which they may not read.
        """
        owner = self._owners.get(target.collection_id) if target.collection_id else None
        if owner is None:
            return ()
        if target.project_id:
            return audiences_of(owner, project_uid=self._project_uid(entry, target.project_id))
        guests = (self._uids.get(each) for each in projects)
        return owner_key(*owner), *(project_key(owner[0], uid) for uid in guests if uid)

    def _project_uid(self, entry: Entry, project_id: str) -> str:
        """Uid of the project that the object is, or is of: not of a later one of the same id."""
        if entry.kind == PROJECT:
            return entry.uid
        owners = entry.metadata.get("ownerReferences") or ()
        owning = (str(each["uid"]) for each in owners if each["kind"] == PROJECT)
        return next(owning, self._uids.get(project_id, ""))

    def target(self, entry: Entry) -> Target:
        """The target of an object's events, with the ids above it."""
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
