"""Announces changes of resources: compares what the watches say with what they said before.

Each kind is announced in the order of its watch, so a position in it is one
number. A creation whose parent has not been announced yet waits a moment, and
what comes after it in the same watch waits with it. Parents that are not known
then are looked up: without them nobody knows who may see the change.
"""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict, deque
from collections.abc import Callable
from dataclasses import replace
from itertools import accumulate

from onair_api.access.audiences import AudienceKey
from onair_api.cache.watched_kinds import COLLECTION, DESTINATION, LAYOUT, PROJECT, SOURCE
from onair_api.event.changes.announcement import Announcement
from onair_api.event.changes.event_details import EventDetails
from onair_api.event.changes.layout_announcements import layout_announcements
from onair_api.event.changes.live_announcements import live_announcements
from onair_api.event.changes.parent_lookup import LOOKUP_S, Find, ParentLookup
from onair_api.event.changes.parents import PARENT, Parents
from onair_api.event.changes.resource_change import ResourceChange
from onair_api.event.event import Event, Position
from onair_api.event.replay.recent_events import ReplayBuffer
from onair_api.live.project.record import ProjectRecords
from onair_api.unexpected_errors import log_unexpected
from onair_api.writes.request_note import StoredNote, note_of
from onair_crds.kube.store import Entry
from onair_crds.shapes import Document, JsonObject

KINDS = (COLLECTION, PROJECT, SOURCE, DESTINATION, LAYOUT)
PARENT_TIMEOUT_S = 0.25
"""How far watches of different kinds may be apart."""
UNUSED_NOTES_KEPT = 10_000


class ChangeAnnouncer:
    """Follows the reflectors (`onair_crds.kube.reflector.Listener`) and delivers events of the changes."""

    def __init__(
        self,
        records: ProjectRecords,
        prefix: str,
        details: EventDetails,
        buffer: ReplayBuffer,
        deliver: Callable[[Event], None],
        find: Find,
        lose: Callable[[Event], None],
    ) -> None:
        """
        Args:
            lose: takes events of which nobody can say who may see them.
        """
        self._records = records
        self._prefix = prefix
        self._details = details
        self._buffer = buffer
        self._deliver = deliver
        self._lose = lose
        self._parents = Parents()
        self._lookup = ParentLookup(self._parents, find)
        self._seen: dict[str, dict[str, Entry]] = {kind: {} for kind in KINDS}
        self._announced: dict[str, set[str]] = {kind: set() for kind in KINDS}
        self._listed: set[str] = set()
        self._unused_notes: OrderedDict[str, str] = OrderedDict()
        """Nonces of notes whose change announced nothing, by the object's uid."""
        self._queues: dict[str, deque[ResourceChange]] = {kind: deque() for kind in KINDS}
        self._workers: dict[str, asyncio.Task[None]] = {}
        self._progress = asyncio.Event()
        """Set when an object was announced that may be a parent."""

    def listed(self, kind: str, documents: list[Document], version: int) -> None:
        """The whole list at a version. The first one announces nothing; later ones are compared.

        Where its versions are lower, the API server's data was put back to an earlier state.
        """
        seen = self._seen.get(kind)
        if seen is None:
            return
        if kind not in self._listed:
            for document in documents:
                entry = seen[document["metadata"]["name"]] = Entry(kind, document)
                self._parents.learn(entry)
            self._announced[kind] = set(seen)
            self._listed.add(kind)
            self._buffer.start(kind, Position(version), time.monotonic())
            self._progress.set()
            return
        last, undone = self._buffer.position(kind), False
        for document in sorted(documents, key=lambda each: int(each["metadata"]["resourceVersion"])):
            before = seen.get(document["metadata"]["name"])
            if before and before.version > int(document["metadata"]["resourceVersion"]):
                before.void = undone = True
            self.changed(kind, document, deleted=False)
        alive = {document["metadata"]["uid"] for document in documents}
        for part, entry in enumerate([each for each in seen.values() if each.uid not in alive]):
            self._remove(entry, None, Position(version, part))
        if undone or (last and last.number > version):
            self._buffer.go_back(kind, Position(version), time.monotonic())

    def changed(self, kind: str, document: Document, *, deleted: bool) -> None:
        """One event of the watch."""
        seen = self._seen.get(kind)
        if seen is None:
            return
        entry = Entry(kind, document)
        position = Position(entry.version)
        before = seen.get(entry.name)
        if before and before.uid != entry.uid:
            self._remove(before, None, position)
            before = None
        if deleted:
            if before:
                self._remove(before, entry, position)
            return
        if before and before.version >= entry.version and not before.void:
            return
        seen[entry.name] = entry
        if kind in (COLLECTION, PROJECT):
            self._parents.learn(entry)
        self._take(before, entry, position, _new_note(before, entry))

    def announced(self, kind: str) -> Position | None:
        """How far changes of a kind have been announced; None while it is not followed."""
        return self._buffer.position(kind)

    def _remove(self, before: Entry, last: Entry | None, position: Position) -> None:
        """An object is gone; `last` is its final version, where the watch gave one."""
        del self._seen[before.kind][before.name]
        self._parents.forget(before)
        self._take(before, None, position, _new_note(before, last))

    def _take(
        self, before: Entry | None, after: Entry | None, position: Position, note: StoredNote | None
    ) -> None:
        """Announces a change, at once unless it or one before it has to wait."""
        entry = after or before
        if entry is None:
            return
        change = ResourceChange(
            entry.kind, before, after, position, note, time.monotonic() + PARENT_TIMEOUT_S
        )
        queue = self._queues[entry.kind]
        waits = (
            self._parent_missing(change)
            or self._parents.missing(entry)
            or self._may_have_details(change)
            or self._is_large(change)
        )
        if not queue and not waits:
            self._announce(change, None, self._deliver)
            return
        queue.append(change)
        worker = self._workers.get(entry.kind)
        if worker is None or worker.done():
            self._workers[entry.kind] = asyncio.get_running_loop().create_task(self._work_off(queue))

    def _parent_missing(self, change: ResourceChange) -> bool:
        if change.before is not None or change.kind not in PARENT:
            return False
        kind, field = PARENT[change.kind]
        return change.entry.spec.get(field) not in self._announced[kind]

    def _may_have_details(self, change: ResourceChange) -> bool:
        note = change.note
        return note is not None and change.kind == LAYOUT and self._details.may_have(note)

    def _is_large(self, change: ResourceChange) -> bool:
        after = change.after
        return after is not None and after.kind == PROJECT and self._records.is_large(after)

    async def _work_off(self, queue: deque[ResourceChange]) -> None:
        """Announces what waits, in order."""
        while queue:
            change = queue[0]
            while self._parent_missing(change) and (left_s := change.deadline - time.monotonic()) > 0:
                self._progress.clear()
                try:
                    async with asyncio.timeout(left_s):
                        await self._progress.wait()
                except TimeoutError:
                    break
            known = await self._lookup.complete(change.entry, change.deadline + LOOKUP_S)
            details = None
            try:
                if change.after and self._is_large(change):
                    await self._records.prepare(change.after)
                if change.note and self._may_have_details(change):
                    details = await self._details.find(change.note.nonce)
            except Exception as error:  # noqa: BLE001 - nor what waits behind it
                log_unexpected("events.change_not_prepared", error, kind=change.kind)
            self._announce(change, details, self._deliver if known else self._lose)
            queue.popleft()

    def _announce(
        self, change: ResourceChange, details: JsonObject | None, deliver: Callable[[Event], None]
    ) -> None:
        """Delivers the events of a change.

        Args:
            details: what its events say beyond the difference.
        """
        change = self._with_unused_note(change)
        try:
            target = self._parents.target(change.entry)
            if change.kind == LAYOUT:
                found = layout_announcements(change, target, self._records.view, details)
            else:
                found = live_announcements(change.before, change.after, target, self._records)
            ends = accumulate(each.places for each in found)
            events = [
                each.event(change, end - 1, self._audiences(change, each), self._prefix)
                for end, each in zip(ends, found, strict=True)
            ]
        except Exception as error:  # noqa: BLE001 - one odd object must not stop the watch
            log_unexpected("events.change_not_announced", error, kind=change.kind)
            events = []
        self._remember(change, announced=bool(events))
        for event in events:
            deliver(event)
        self._buffer.advance(change.kind, change.position)

    def _audiences(self, change: ResourceChange, announcement: Announcement) -> tuple[AudienceKey, ...]:
        for name in (announcement.target.project_id, *announcement.projects):
            if name and (project := self._records.view.entry(PROJECT, name)):
                self._parents.remember(project)
        return self._parents.audiences(change.entry, announcement.target, announcement.projects)

    def _with_unused_note(self, change: ResourceChange) -> ResourceChange:
        """A deletion's note is written just before it, by a change that announces nothing else."""
        note, before = note_of(change.before), change.before
        if change.note or not note or not before or self._unused_notes.get(before.uid) != note.nonce:
            return change
        ends = change.after is None or (change.after.deleting and not before.deleting)
        return replace(change, note=note) if ends else change

    def _remember(self, change: ResourceChange, *, announced: bool) -> None:
        names = self._announced[change.kind]
        if change.after is None:
            if change.entry.name not in self._seen[change.kind]:
                names.discard(change.entry.name)
        elif change.entry.name not in names:
            names.add(change.entry.name)
            self._progress.set()
        self._unused_notes.pop(change.entry.uid, None)
        if change.note and not announced and change.after is not None:
            self._unused_notes[change.entry.uid] = change.note.nonce
            if len(self._unused_notes) > UNUSED_NOTES_KEPT:
                self._unused_notes.popitem(last=False)

    async def stop(self) -> None:
        for worker in self._workers.values():
            worker.cancel()
        await asyncio.gather(*self._workers.values(), return_exceptions=True)


def _new_note(before: Entry | None, after: Entry | None) -> StoredNote | None:
    """The note of the request that made this change; None if an earlier request left it."""
    note, old = note_of(after), note_of(before)
    return note if note and (old is None or old.nonce != note.nonce) else None
