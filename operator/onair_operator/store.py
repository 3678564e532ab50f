"""The operator's view of the cluster: the newest known version of every object it watches.

Fed by watches, by its own write responses and by a periodic list, in any
order: an older version never replaces a newer one, and what was deleted stays
deleted.
"""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from onair_crds.contract.labels import DESTINATION_LABEL, PROJECT_LABEL
from onair_crds.resources.base import Resource
from onair_crds.resources.kinds import KINDS
from onair_crds.shapes import Document

MODELS: dict[str, type[Resource]] = {kind.kind: kind for kind in KINDS}
MAX_TOMBSTONES = 10_000


@dataclass(frozen=True)
class Entry:
    kind: str
    document: Document

    @property
    def version(self) -> int:
        return int(self.document["metadata"]["resourceVersion"])

    @property
    def uid(self) -> str:
        return str(self.document["metadata"]["uid"])

    @property
    def project(self) -> str | None:
        """The project that the object bears on, by its spec or its labels."""
        if self.kind == "Project":
            return str(self.document["metadata"]["name"])
        if self.kind in ("Destination", "Layout"):
            return str(self.document["spec"]["projectId"])
        return (self.document["metadata"].get("labels") or {}).get(PROJECT_LABEL)

    @property
    def collection(self) -> str | None:
        if self.kind == "Collection":
            return str(self.document["metadata"]["name"])
        if self.kind in ("Project", "Source"):
            return str(self.document["spec"]["collectionId"])
        return None

    @property
    def destination(self) -> str | None:
        """The destination that a Secret was made for."""
        labels = self.document["metadata"].get("labels") or {}
        return labels.get(DESTINATION_LABEL) if self.kind == "Secret" else None

    @cached_property
    def model(self) -> Any:
        return MODELS[self.kind].model_validate(self.document)


class Store:
    def __init__(self) -> None:
        self._entries: dict[str, dict[str, Entry]] = defaultdict(dict)
        self._by_project: dict[tuple[str, str], set[str]] = defaultdict(set)
        self._by_collection: dict[tuple[str, str], set[str]] = defaultdict(set)
        self._by_destination: dict[tuple[str, str], set[str]] = defaultdict(set)
        self._tombstones: OrderedDict[str, None] = OrderedDict()

    def put(self, kind: str, document: Document) -> bool:
        """Takes a version of an object; says whether it is news."""
        entry = Entry(kind, document)
        if entry.uid in self._tombstones:
            return False
        name = document["metadata"]["name"]
        known = self._entries[kind].get(name)
        if known and known.uid == entry.uid and known.version >= entry.version:
            return False
        if known:
            self._unindex(name, known)
        self._entries[kind][name] = entry
        for index, key in self._indexed(entry):
            if key:
                index[kind, key].add(name)
        return True

    def remove(self, kind: str, name: str, uid: str) -> bool:
        """Forgets a deleted object; says whether it was known."""
        self._tombstones[uid] = None
        if len(self._tombstones) > MAX_TOMBSTONES:
            self._tombstones.popitem(last=False)
        known = self._entries[kind].get(name)
        if known is None or known.uid != uid:
            return False
        self._unindex(name, known)
        del self._entries[kind][name]
        return True

    def _unindex(self, name: str, entry: Entry) -> None:
        for index, key in self._indexed(entry):
            if key:
                index[entry.kind, key].discard(name)
                if not index[entry.kind, key]:
                    del index[entry.kind, key]

    def _indexed(self, entry: Entry) -> list[tuple[dict[tuple[str, str], set[str]], str | None]]:
        return [
            (self._by_project, entry.project),
            (self._by_collection, entry.collection),
            (self._by_destination, entry.destination),
        ]

    def get(self, kind: str, name: str) -> Entry | None:
        return self._entries[kind].get(name)

    def all(self, kind: str) -> list[Entry]:
        return list(self._entries[kind].values())

    def of_project(self, kind: str, project: str) -> Iterator[Entry]:
        for name in sorted(self._by_project.get((kind, project), ())):
            yield self._entries[kind][name]

    def of_collection(self, kind: str, collection: str) -> Iterator[Entry]:
        for name in sorted(self._by_collection.get((kind, collection), ())):
            yield self._entries[kind][name]

    def of_destination(self, kind: str, destination: str) -> Iterator[Entry]:
        for name in sorted(self._by_destination.get((kind, destination), ())):
            yield self._entries[kind][name]

    def keys_of(self, kind: str, document: Document) -> set[str]:
        """Keys of the work queue that an object bears on."""
        entry = Entry(kind, document)
        keys = set()
        if kind in ("Collection", "Source") and entry.collection:
            keys.add(f"collection/{entry.collection}")
        if kind == "Collection" and entry.collection:
            keys |= {f"project/{p.project}" for p in self.of_collection("Project", entry.collection)}
        if kind == "Secret":
            keys |= self._projects_of_secret(document)
        elif kind == "Node":
            keys |= {f"project/{pod.project}" for pod in self.all("Pod") if pod.project}
        elif kind not in ("Collection", "Source") and entry.project:
            keys.add(f"project/{entry.project}")
        return keys

    def _projects_of_secret(self, document: Document) -> set[str]:
        name = document["metadata"]["name"]
        labelled = (document["metadata"].get("labels") or {}).get(DESTINATION_LABEL)
        return {
            f"project/{d.project}"
            for d in self.all("Destination")
            if d.document["metadata"]["name"] == labelled or _mentions(d.document["spec"]["address"], name)
        }


def _mentions(address: Document, secret: str) -> bool:
    return any(
        isinstance(value, dict) and (value.get("name") == secret or _mentions(value, secret))
        for value in address.values()
    )
