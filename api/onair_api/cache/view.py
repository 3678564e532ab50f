"""What reads see: the watched objects, with this replica's own writes on top until the watch brings them.

Both come in as whole documents and the newer one stays, by resourceVersion:
it counts up over all objects of one API server. A uid never comes back, so one
that was seen to be gone is ignored ever after, whatever arrives late.
"""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterable
from typing import Any

from onair_api.cache.kinds import BY_KIND, IndexKey
from onair_crds.contract.labels import CREATED_ANNOTATION
from onair_crds.shapes import Document

GONE_KEPT = 50_000

Listener = Callable[[], None]


class Entry:
    """One version of one object. `records` keeps what was worked out of it, as long as it is the newest."""

    __slots__ = ("created", "document", "kind", "name", "records", "uid", "version")

    def __init__(self, kind: str, document: Document) -> None:
        metadata = document["metadata"]
        self.kind = kind
        self.name: str = metadata["name"]
        self.uid: str = metadata["uid"]
        self.version = int(metadata["resourceVersion"])
        self.document = document
        self.created = creation_order(metadata)
        self.records: dict[Any, Any] = {}

    @property
    def metadata(self) -> dict[str, Any]:
        return self.document["metadata"]  # type: ignore[no-any-return]

    @property
    def spec(self) -> dict[str, Any]:
        return self.document.get("spec") or {}

    @property
    def status(self) -> dict[str, Any]:
        return self.document.get("status") or {}

    @property
    def deleting(self) -> bool:
        return "deletionTimestamp" in self.metadata


def creation_order(metadata: dict[str, Any]) -> tuple[str, str]:
    """Sorts objects oldest first; RFC 3339 UTC sorts as text once all have a fraction."""
    annotations = metadata.get("annotations") or {}
    created = str(annotations.get(CREATED_ANNOTATION) or metadata.get("creationTimestamp") or "")
    return (created if "." in created else created.replace("Z", ".000000Z")), metadata["name"]


class View:
    def __init__(self) -> None:
        self._entries: dict[str, dict[str, Entry]] = {kind: {} for kind in BY_KIND}
        self._index: dict[str, dict[IndexKey, dict[str, Entry]]] = {k: defaultdict(dict) for k in BY_KIND}
        self._gone: OrderedDict[str, None] = OrderedDict()
        self._listeners: dict[str, list[Listener]] = defaultdict(list)

    def get(self, kind: str, name: str) -> Entry | None:
        """The object, None too while it is being deleted."""
        entry = self._entries[kind].get(name)
        return None if entry is None or entry.deleting else entry

    def children(self, kind: str, *key: str) -> list[Entry]:
        """All objects of a kind that belong to `key`, oldest first."""
        found = self._index[kind].get(key)
        if not found:
            return []
        return sorted((e for e in found.values() if not e.deleting), key=lambda e: e.created)

    def all(self, kind: str) -> Iterable[Entry]:
        return self._entries[kind].values()

    def size(self, kind: str) -> int:
        return len(self._entries[kind])

    def put(self, kind: str, document: Document) -> Entry | None:
        """Takes a document of a watch, list, read or write; gives the newest, None if it is gone."""
        entry = Entry(kind, document)
        known = self._entries[kind].get(entry.name)
        if entry.uid in self._gone:
            return known
        if known and known.version >= entry.version:
            return known
        if known:
            self._unlink(known)
        self._entries[kind][entry.name] = entry
        self._index[kind][BY_KIND[kind].index(document)][entry.name] = entry
        self._tell(kind)
        return entry

    def remove(self, kind: str, name: str, uid: str) -> None:
        """The object with this uid is gone for good."""
        self._gone[uid] = None
        if len(self._gone) > GONE_KEPT:
            self._gone.popitem(last=False)
        known = self._entries[kind].get(name)
        if known and known.uid == uid:
            del self._entries[kind][name]
            self._unlink(known)
            self._tell(kind)

    def replace_all(self, kind: str, documents: list[Document], version: int) -> None:
        """Takes a whole list; what it lacks is gone, but for objects that are newer than the list."""
        for document in documents:
            self.put(kind, document)
        alive = {document["metadata"]["uid"] for document in documents}
        for entry in list(self._entries[kind].values()):
            if entry.uid not in alive and entry.version <= version:
                self.remove(kind, entry.name, entry.uid)

    def on_change(self, kind: str, listener: Listener) -> None:
        """Calls `listener` after every change of any object of a kind."""
        self._listeners[kind].append(listener)

    def _unlink(self, entry: Entry) -> None:
        key = BY_KIND[entry.kind].index(entry.document)
        siblings = self._index[entry.kind][key]
        siblings.pop(entry.name, None)
        if not siblings:
            del self._index[entry.kind][key]

    def _tell(self, kind: str) -> None:
        for listener in self._listeners[kind]:
            listener()
