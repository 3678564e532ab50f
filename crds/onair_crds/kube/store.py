"""The newest known version of every watched object, in memory.

Lists, watches, reads and responses to writes all feed it, in any order:
resourceVersion counts up over all objects of one API server, so the newer
document stays. A uid never comes back, so an object that was seen to be deleted
is ignored ever after, whatever arrives late. Neither holds where the API server's
data was put back to an earlier state: `start_over` is for that.
"""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterable, Mapping
from collections.abc import Set as AbstractSet
from typing import Any, NamedTuple, TypeVar, cast

from onair_crds.contract.labels import CREATED_ANNOTATION
from onair_crds.resources.base import Resource
from onair_crds.shapes import Document

MAX_TOMBSTONES = 50_000

IndexKey = tuple[str, ...]
Index = Callable[[Document], Iterable[IndexKey]]
"""The keys that an object is found by: none, one or several."""
Kinds = Mapping[str, Mapping[str, Index]]
"""The kinds that a store holds, and the indices of each by name."""
Trim = Callable[[Document], Document]
"""The part of an object that its store keeps; metadata is always one."""
Listener = Callable[[], None]
R = TypeVar("R", bound=Resource)


class Entry:
    """One version of one object. `records` keeps what was derived from it, as long as it is the newest."""

    __slots__ = (
        "created",
        "data_written",
        "document",
        "index_keys",
        "kind",
        "name",
        "records",
        "uid",
        "version",
        "void",
    )

    def __init__(self, kind: str, document: Document) -> None:
        metadata = document["metadata"]
        # The larger half of many an object: only the time of its data is of use.
        managed = metadata.pop("managedFields", None) or ()
        self.data_written = _data_written(managed) if "data" in document else None
        """When `data` was last written; None if there is none, or nothing says so."""
        self.kind = kind
        self.name: str = metadata["name"]
        self.uid: str = metadata["uid"]
        self.version = int(metadata["resourceVersion"])
        self.void = False
        """Whether any version is newer: this one is of a state that the API server does not have any more."""
        self.document = document
        self.created = creation_order(metadata)
        self.records: dict[Any, Any] = {}
        self.index_keys: tuple[tuple[str, IndexKey], ...] = ()
        """Where a store has it: names of indices and keys."""

    @property
    def metadata(self) -> Document:
        return self.document["metadata"]  # type: ignore[no-any-return]

    @property
    def spec(self) -> Document:
        return self.document.get("spec") or {}

    @property
    def status(self) -> Document:
        return self.document.get("status") or {}

    @property
    def labels(self) -> dict[str, str]:
        return self.metadata.get("labels") or {}

    @property
    def deleting(self) -> bool:
        return "deletionTimestamp" in self.metadata

    def model(self, model: type[R]) -> R:
        """The object as its resource model, parsed at the first call.

        Raises:
            ValidationError: the object is not as the model says.
        """
        parsed: R | None = self.records.get(model)
        if parsed is None:
            parsed = self.records[model] = model.model_validate(self.document)
        return parsed

    def head(self, model: type[R]) -> R:
        """Only the object's metadata, if the rest is not looked at and need not be as the model says."""
        return cast("R", model.model_construct(metadata=self.metadata))


def _data_written(managed: Iterable[Any]) -> str | None:
    """The newest time at which a writer of `data` wrote, of the entries of `managedFields`."""
    fields = ((each.get("time"), each.get("fieldsV1") or {}) for each in managed if isinstance(each, dict))
    return max((time for time, owned in fields if time and "f:data" in owned), default=None)


class Change(NamedTuple):
    """The effect of an update on one object; `before` or `after` is None if there was or is none."""

    before: Entry | None
    after: Entry | None

    @property
    def entry(self) -> Entry:
        """The object as it is, or as it was last."""
        entry = self.after or self.before
        if entry is None:
            raise ValueError("a change of nothing")
        return entry

    @property
    def gone(self) -> Entry | None:
        """The object that is no more: deleted, or replaced by another of its name."""
        before, after = self
        return None if before and after and before.uid == after.uid else before


def creation_order(metadata: Document) -> tuple[str, str]:
    """Sorts objects oldest first; RFC 3339 UTC sorts as text once all have a fraction."""
    annotations = metadata.get("annotations") or {}
    created = str(annotations.get(CREATED_ANNOTATION) or metadata.get("creationTimestamp") or "")
    return (created if "." in created else created.replace("Z", ".000000Z")), metadata["name"]


class Store:
    """Objects of the declared kinds, by name and by index. An entry may be of an object under deletion."""

    def __init__(self, kinds: Kinds, trims: Mapping[str, Trim] | None = None) -> None:
        """`trims` are of kinds of which a part is enough."""
        self._kinds = kinds
        self._trims = trims or {}
        self._entries: dict[str, dict[str, Entry]] = {kind: {} for kind in kinds}
        self._indexed: dict[tuple[str, str], dict[IndexKey, dict[str, Entry]]] = {
            (kind, index): defaultdict(dict) for kind, indices in kinds.items() for index in indices
        }
        self._tombstones: OrderedDict[str, str] = OrderedDict()
        """Kinds by uid."""
        self._versions = dict.fromkeys(kinds, 0)
        self.restores = 0
        """How often a kind started over."""
        self._listeners: dict[str, list[Listener]] = defaultdict(list)

    def entry(self, kind: str, name: str) -> Entry | None:
        return self._entries[kind].get(name)

    def entries(self, kind: str) -> list[Entry]:
        """All objects of a kind, in no order."""
        return list(self._entries[kind].values())

    def select(self, kind: str, index: str, *key: str) -> list[Entry]:
        """The objects that an index finds by this key, sorted by name."""
        found = self._indexed[kind, index].get(key)
        return [found[name] for name in sorted(found)] if found else []

    def size(self, kind: str) -> int:
        return len(self._entries[kind])

    def on_change(self, kind: str, listener: Listener) -> None:
        """Calls `listener` after every change of any object of a kind."""
        self._listeners[kind].append(listener)

    def version(self, kind: str) -> int:
        """The highest resourceVersion that the API server was heard to have of a kind; 0 if none was."""
        return self._versions[kind]

    def heard(self, kind: str, version: int) -> None:
        """Notes that the API server has this resourceVersion of a kind, whatever of it is kept."""
        self._versions[kind] = max(version, self._versions[kind])

    def start_over(self, kind: str, version: int) -> None:
        """Takes whatever comes of a kind for newer than what is known, which stays until a list is complete.

        Args:
            version: the API server's own, which is lower than what was heard of it.
        """
        self._versions[kind] = version
        for uid in [uid for uid, dead in self._tombstones.items() if dead == kind]:
            del self._tombstones[uid]
        for entry in self._entries[kind].values():
            entry.void = True
        self.restores += 1

    def update(self, kind: str, document: Document) -> Change | None:
        """Takes one version of an object; None if it is no news."""
        metadata = document["metadata"]
        known, version = self._entries[kind].get(metadata["name"]), int(metadata["resourceVersion"])
        self.heard(kind, version)
        # Before it is trimmed, which may compress it: a list brings all that is known already
        if metadata["uid"] in self._tombstones or (known and known.version >= version and not known.void):
            return None
        trim = self._trims.get(kind)
        entry = Entry(kind, trim(document) if trim else document)
        if known:
            self._unlink(known)
        self._entries[kind][entry.name] = entry
        entry.index_keys = tuple(
            (name, key) for name, index in self._kinds[kind].items() for key in index(entry.document)
        )
        for name, key in entry.index_keys:
            self._indexed[kind, name][key][entry.name] = entry
        self._notify(kind)
        return Change(known, entry)

    def read_again(self, kind: str, known: Entry | None, document: Document) -> Change | None:
        """Takes an object that was read when another version of it was known.

        That one is older, whatever its number: the API server's data may have been put back.
        """
        if known and known.version > int(document["metadata"]["resourceVersion"]):
            known.void = True
        return self.update(kind, document)

    def remove(self, kind: str, name: str, uid: str) -> Change | None:
        """Drops a deleted object for good; None if it was not known."""
        self._tombstones[uid] = kind
        if len(self._tombstones) > MAX_TOMBSTONES:
            self._tombstones.popitem(last=False)
        known = self._entries[kind].get(name)
        if known is None or known.uid != uid:
            return None
        del self._entries[kind][name]
        self._unlink(known)
        self._notify(kind)
        return Change(known, None)

    def drop_missing(self, kind: str, alive: AbstractSet[str], version: int) -> list[Change]:
        """Drops what a list at this resourceVersion lacks, unless that is newer; `alive` are its uids."""
        self.heard(kind, version)
        entries = self._entries[kind].values()
        missing = [e for e in entries if e.uid not in alive and (e.version <= version or e.void)]
        removals = [self.remove(kind, entry.name, entry.uid) for entry in missing]
        return [change for change in removals if change]

    def _unlink(self, entry: Entry) -> None:
        for name, key in entry.index_keys:
            indexed = self._indexed[entry.kind, name]
            siblings = indexed[key]
            siblings.pop(entry.name, None)
            if not siblings:
                del indexed[key]

    def _notify(self, kind: str) -> None:
        for listener in self._listeners.get(kind, ()):
            listener()
