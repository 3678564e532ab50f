"""Resource-change events: differences between what the watch said last and what it says now.

Each kind is told of in the order of its watch, so a position in it is one
number. A creation whose parent has not been told of yet waits a moment, and
what comes after it in the same watch waits with it.
"""

from __future__ import annotations

import asyncio
import time
import uuid
from collections import OrderedDict, deque
from collections.abc import Callable
from dataclasses import dataclass, replace

from onair_api.access.audiences import LAYOUT_FAMILY, LIVE_FAMILY, owner_key, project_key
from onair_api.cache.kinds import COLLECTION, DESTINATION, LAYOUT, PROJECT, SOURCE
from onair_api.cache.view import Entry
from onair_api.event.changes.announcement import DELETE, Told
from onair_api.event.changes.event_details import BatchNotes, Note, note_of
from onair_api.event.changes.layout import layout_changes
from onair_api.event.changes.live import live_changes
from onair_api.event.changes.parents import PARENT, Lineage
from onair_api.event.custom.publisher import audiences_of
from onair_api.event.event import Event, Position, dumps
from onair_api.event.replay.buffer import Ring
from onair_api.http.request_log import log_unexpected
from onair_api.live.project.record import Readers
from onair_crds.shapes import Document

KINDS = (COLLECTION, PROJECT, SOURCE, DESTINATION, LAYOUT)
PARENT_WITHIN_S = 0.25
"""How far watches of different kinds may be apart."""
UNUSED_KEPT = 10_000
_IDS = uuid.UUID("a3c1d0d2-94a5-5d0b-8d0c-5b9e5b1f7c11")


@dataclass(frozen=True, slots=True)
class Change:
    kind: str
    before: Entry | None
    after: Entry | None
    position: Position
    note: Note | None
    """New with this change."""
    deadline: float

    @property
    def entry(self) -> Entry:
        entry = self.after or self.before
        if entry is None:
            raise ValueError("a change of nothing")
        return entry


class Changes:
    """Hears what the reflectors heard (`onair_crds.kube.reflector.Listener`) and delivers events of it."""

    def __init__(
        self, readers: Readers, prefix: str, notes: BatchNotes, ring: Ring, deliver: Callable[[Event], None]
    ) -> None:
        self._readers = readers
        self._prefix = prefix
        self._notes = notes
        self._ring = ring
        self._deliver = deliver
        self._lineage = Lineage()
        self._said: dict[str, dict[str, Entry]] = {kind: {} for kind in KINDS}
        self._told: dict[str, set[str]] = {kind: set() for kind in KINDS}
        self._begun: set[str] = set()
        self._unused: OrderedDict[str, str] = OrderedDict()
        self._waiting: dict[str, deque[Change]] = {kind: deque() for kind in KINDS}
        self._workers: dict[str, asyncio.Task[None]] = {}
        self._something_told = asyncio.Event()

    def listed(self, kind: str, documents: list[Document], version: int) -> None:
        """The whole list at a version. The first one is where everything begins; later ones are compared."""
        said = self._said.get(kind)
        if said is None:
            return
        if kind not in self._begun:
            for document in documents:
                entry = said[document["metadata"]["name"]] = Entry(kind, document)
                self._lineage.learn(entry)
            self._told[kind] = set(said)
            self._begun.add(kind)
            self._ring.begin(kind, Position(version), time.time())
            self._something_told.set()
            return
        for document in sorted(documents, key=lambda each: int(each["metadata"]["resourceVersion"])):
            self.changed(kind, document, deleted=False)
        alive = {document["metadata"]["uid"] for document in documents}
        for part, entry in enumerate([each for each in said.values() if each.uid not in alive]):
            self._forget(entry, None, Position(version, part))

    def changed(self, kind: str, document: Document, *, deleted: bool) -> None:
        """One event of the watch."""
        said = self._said.get(kind)
        if said is None:
            return
        entry = Entry(kind, document)
        position = Position(entry.version)
        before = said.get(entry.name)
        if before and before.uid != entry.uid:
            self._forget(before, None, position)
            before = None
        if deleted:
            if before:
                self._forget(before, entry, position)
            return
        if before and before.version >= entry.version:
            return
        said[entry.name] = entry
        self._lineage.learn(entry)
        self._take(before, entry, position, _fresh_note(before, entry))

    def _forget(self, before: Entry, last: Entry | None, position: Position) -> None:
        """An object is gone; `last` is what the watch says it was in the end."""
        del self._said[before.kind][before.name]
        self._lineage.gone(before)
        self._take(before, None, position, _fresh_note(before, last))

    def _take(self, before: Entry | None, after: Entry | None, position: Position, note: Note | None) -> None:
        entry = after or before
        if entry is None:
            return
        change = Change(entry.kind, before, after, position, note, time.monotonic() + PARENT_WITHIN_S)
        if not self._waiting[entry.kind] and not self._must_wait(change):
            self._tell(change, None)
            return
        self._waiting[entry.kind].append(change)
        worker = self._workers.get(entry.kind)
        if worker is None or worker.done():
            self._workers[entry.kind] = asyncio.get_running_loop().create_task(self._work(entry.kind))

    def _must_wait(self, change: Change) -> bool:
        return self._parent_missing(change) or self._may_have_more(change)

    def _parent_missing(self, change: Change) -> bool:
        if change.before is not None or change.kind not in PARENT:
            return False
        kind, field = PARENT[change.kind]
        return change.entry.spec.get(field) not in self._told[kind]

    def _may_have_more(self, change: Change) -> bool:
        return change.kind == LAYOUT and change.note is not None and self._notes.reachable

    async def _work(self, kind: str) -> None:
        """Tells what waits, in order."""
        waiting = self._waiting[kind]
        while waiting:
            change = waiting[0]
            while self._parent_missing(change) and (left_s := change.deadline - time.monotonic()) > 0:
                self._something_told.clear()
                try:
                    await asyncio.wait_for(self._something_told.wait(), left_s)
                except TimeoutError:
                    break
            more = None
            if self._may_have_more(change) and change.note:
                more = await self._notes.find(change.note.nonce)
            self._tell(change, more)
            waiting.popleft()

    def _with_left_over(self, change: Change) -> Change:
        """A deletion's note is written before it, by a change that tells nothing else."""
        note, before = note_of(change.before), change.before
        if change.note or not note or not before or self._unused.get(before.uid) != note.nonce:
            return change
        ends = change.after is None or (change.after.deleting and not before.deleting)
        return replace(change, note=note) if ends else change

    def _tell(self, change: Change, more: dict[str, object] | None) -> None:
        change = self._with_left_over(change)
        try:
            events = self._events(change, more)
        except Exception as error:  # noqa: BLE001 - one odd object must not stop the watch
            log_unexpected("events.change_not_told", error, kind=change.kind)
            events = []
        self._remember(change, told=bool(events))
        for event in events:
            self._deliver(event)
        self._ring.advance(change.kind, change.position)

    def _remember(self, change: Change, *, told: bool) -> None:
        names = self._told[change.kind]
        if change.after is None:
            if change.entry.name not in self._said[change.kind]:
                names.discard(change.entry.name)
        elif change.entry.name not in names:
            names.add(change.entry.name)
            self._something_told.set()
        self._unused.pop(change.entry.uid, None)
        if change.note and not told and change.after is not None:
            self._unused[change.entry.uid] = change.note.nonce
            if len(self._unused) > UNUSED_KEPT:
                self._unused.popitem(last=False)

    def _events(self, change: Change, more: dict[str, object] | None) -> list[Event]:
        before, after = change.before, change.after
        target = self._lineage.target(change.entry)
        note = change.note
        if change.kind == LAYOUT:
            metadata = note.metadata if note else None
            told = layout_changes(before, after, target, self._readers.view, metadata, more)
        else:
            told = live_changes(before, after, target, self._readers)
        return [self._event(change, each, part) for part, each in enumerate(told)]

    def _event(self, change: Change, told: Told, part: int) -> Event:
        note = change.note
        name = told.name(self._prefix)
        ended = told.sub_type == DELETE and told.type == change.kind.lower()
        version = "gone" if ended else str(change.entry.version)
        body: dict[str, object] = {
            "id": str(uuid.uuid5(_IDS, f"{change.entry.uid}\n{version}\n{name}\n{told.subject}")),
            "name": name,
            "payload": told.payload,
        }
        if note and note.metadata is not None:
            body["requestMetadata"] = note.metadata
        body["target"] = told.target.json()
        owner = self._lineage.owner(told.target.collection_id)
        audiences = audiences_of(told.target, owner)
        if not told.target.project_id:  # a collection is not its guests' to read
            audiences = (owner_key(*owner),) if owner else ()
            audiences += tuple(project_key(owner[0], project) for project in told.projects if owner)
        return Event(
            name=name,
            body=dumps(body),
            target=told.target,
            source=change.kind,
            position=Position(change.position.number, change.position.part + part),
            audiences=audiences,
            family=LAYOUT_FAMILY if change.kind == LAYOUT else LIVE_FAMILY,
            session_id=note.session_id if note else None,
        )

    async def stop(self) -> None:
        for worker in self._workers.values():
            worker.cancel()
        await asyncio.gather(*self._workers.values(), return_exceptions=True)


def _fresh_note(before: Entry | None, after: Entry | None) -> Note | None:
    """The note of the request that made this change; None for one that an earlier request left."""
    note, old = note_of(after), note_of(before)
    return note if note and (old is None or old.nonce != note.nonce) else None
