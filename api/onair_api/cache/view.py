"""The facade's reads: watched objects, with this replica's own writes on top until the watch brings them."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from onair_api.cache.gone_layouts import GoneLayouts
from onair_api.cache.watched_kinds import KINDS, LAYOUT, PARENT
from onair_api.unexpected_errors import log_unexpected
from onair_crds.kube.store import Change, Entry, Store
from onair_crds.shapes import Document


class View(Store):
    """A store whose reads do not see what is being deleted."""

    def __init__(self) -> None:
        super().__init__(KINDS)
        self.gone_layouts = GoneLayouts()
        self._follower: Callable[[Change], None] | None = None

    def follow(self, follower: Callable[[Change], None]) -> None:
        """Calls `follower` with every change from now on, once, whatever brought it."""
        self._follower = follower

    def _tell(self, change: Change) -> None:
        if self._follower is None:
            return
        try:
            self._follower(change)
        except Exception as error:  # noqa: BLE001  one object is not to end the watch of all others
            log_unexpected("view.change_not_followed", error, kind=change.entry.kind)

    def update(self, kind: str, document: Document) -> Change | None:
        change = super().update(kind, document)
        if change:
            self._tell(change)
        return change

    def remove(self, kind: str, name: str, uid: str) -> Change | None:
        change = super().remove(kind, name, uid)
        if change:
            self._tell(change)
        if kind == LAYOUT and change and change.before:
            self.gone_layouts.remember(change.before)
        return change

    def get(self, kind: str, name: str) -> Entry | None:
        """The object; None also while it is being deleted."""
        entry = self._entries[kind].get(name)
        return None if entry is None or entry.deleting else entry

    def children(self, kind: str, *key: str) -> list[Entry]:
        """All objects of a kind that belong to `key`, oldest first."""
        return self.found(kind, PARENT, *key)

    def found(self, kind: str, index: str, *key: str) -> list[Entry]:
        """All objects of a kind that an index finds by `key`, oldest first."""
        found = self._indexed[kind, index].get(key)
        if not found:
            return []
        return sorted((e for e in found.values() if not e.deleting), key=lambda e: e.created)

    def count(self, kind: str, *key: str) -> int:
        """How many objects of a kind belong to `key`, those that are being deleted included."""
        return len(self._indexed[kind, PARENT].get(key) or ())

    def all(self, kind: str) -> Iterable[Entry]:
        """All objects of a kind, in no order; those that are being deleted, too."""
        return self._entries[kind].values()

    def put(self, kind: str, document: Document) -> Entry | None:
        """Takes one version of an object; gives the newest, None if it is gone."""
        self.update(kind, document)
        return self.entry(kind, document["metadata"]["name"])
