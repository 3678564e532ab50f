"""What belongs to what, as the watch said it; remembered for a while after it is gone."""

from __future__ import annotations

from collections import OrderedDict

from onair_api.access.target import Target
from onair_api.cache.kinds import COLLECTION, DESTINATION, LAYOUT, PROJECT, SOURCE
from onair_api.cache.view import Entry

GONE_KEPT = 20_000

PARENT = {
    PROJECT: (COLLECTION, "collectionId"),
    SOURCE: (COLLECTION, "collectionId"),
    DESTINATION: (PROJECT, "projectId"),
    LAYOUT: (PROJECT, "projectId"),
}


class Lineage:
    def __init__(self) -> None:
        self._collections: dict[str, str] = {}
        self._owners: dict[str, tuple[str, str]] = {}
        self._gone: OrderedDict[tuple[str, str], None] = OrderedDict()

    def learn(self, entry: Entry) -> None:
        self._gone.pop((entry.kind, entry.name), None)
        if entry.kind == PROJECT:
            self._collections[entry.name] = str(entry.spec.get("collectionId"))
        elif entry.kind == COLLECTION:
            owner = entry.spec.get("owner") or {}
            self._owners[entry.name] = str(owner.get("serviceId")), str(owner.get("serviceUserId"))

    def gone(self, entry: Entry) -> None:
        """Its children may still tell of themselves."""
        if entry.kind not in (PROJECT, COLLECTION):
            return
        self._gone[entry.kind, entry.name] = None
        if len(self._gone) > GONE_KEPT:
            (kind, name), _ = self._gone.popitem(last=False)
            (self._collections if kind == PROJECT else self._owners).pop(name, None)

    def target(self, entry: Entry) -> Target:
        """The scope that an object's events belong to, completed upwards."""
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

    def owner(self, collection_id: str | None) -> tuple[str, str] | None:
        return self._owners.get(collection_id) if collection_id else None
