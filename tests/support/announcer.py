"""A ChangeAnnouncer, and what its watches say."""

from __future__ import annotations

import asyncio
from typing import Any

from onair_api.cache.view import View
from onair_api.event.changes.announcer import KINDS, ChangeAnnouncer
from onair_api.event.changes.event_details import EventDetails
from onair_api.event.changes.parent_lookup import Find
from onair_api.event.event import Event
from onair_api.event.replay.recent_events import ReplayBuffer
from onair_api.live.project.record import ProjectRecords
from onair_api.live.source.record import SourceRecords
from onair_api.writes.request_note import RequestNote
from onair_crds.contract.ingest import Ingest
from onair_crds.kube.store import Entry
from onair_crds.shapes import Document

OWNER = {"serviceId": "s", "serviceUserId": "u"}


class AnnouncerWatch:
    """The facade's end of the watches, and the events that it delivered."""

    def __init__(self, details: EventDetails | None = None, find: Find | None = None) -> None:
        """
        Args:
            find: where parents are looked up; by default in the view.
        """
        self.view = View()
        self.events: list[Event] = []
        self._arrived = asyncio.Event()
        self.buffer = ReplayBuffer(60, 1000, 1_000_000)
        nothing: Any = None  # public records need neither Secrets nor guest codes
        records = ProjectRecords(
            self.view,
            nothing,
            nothing,
            SourceRecords(nothing, lambda: Ingest("rtmp://i.example/live", "srt://i.example")),
        )
        details = details or EventDetails(None, lambda: False)
        self.lost: list[Event] = []
        """Of which nobody could say who may see them."""
        self.announcer = ChangeAnnouncer(
            records,
            "p",
            details,
            self.buffer,
            self._deliver,
            find or self._find,
            self.lost.append,
        )

    def start(self, **listed: list[Document]) -> None:
        for kind in KINDS:
            self.announcer.listed(kind, listed.get(kind, []), 10)

    def says(self, kind: str, document: Document, *, deleted: bool = False) -> None:
        if deleted:
            self.view.remove(kind, document["metadata"]["name"], document["metadata"]["uid"])
        else:
            self.view.put(kind, document)
        self.announcer.changed(kind, document, deleted=deleted)

    def names(self) -> list[str]:
        """The names since the last call, without what all have."""
        names = [
            event.name.removeprefix("p:live:EVENT_TYPE_").replace(":EVENT_SUB_TYPE", "")
            for event in self.events
        ]
        self.events.clear()
        return names

    async def _find(self, kind: str, name: str) -> Entry | None:
        return self.view.entry(kind, name)

    def _deliver(self, event: Event) -> None:
        self.buffer.add(event, 0.0)
        self.events.append(event)
        self._arrived.set()

    async def arrive(self, count: int) -> None:
        """Returns when so many events were delivered."""
        async with asyncio.timeout(5):
            while len(self.events) < count:
                self._arrived.clear()
                await self._arrived.wait()


def document(
    name: str, version: int, spec: Document, uid: str = "", note: RequestNote | None = None
) -> Document:
    metadata: Document = {"name": name, "uid": uid or name, "resourceVersion": str(version)}
    if note:
        metadata["annotations"] = note.annotations()
    return {"metadata": metadata, "spec": spec}


def collection(version: int, value: Any = None, name: str = "c", **more: Any) -> Document:
    return document(name, version, {"owner": OWNER, "metadata": value}, **more)


def project(version: int, value: Any = None, name: str = "q", **more: Any) -> Document:
    return document(name, version, {"collectionId": "c", "metadata": value}, **more)
