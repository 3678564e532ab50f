"""One announcement of a change, and its event."""

from __future__ import annotations

import uuid
from dataclasses import dataclass

from onair_api.access.audiences import AudienceKey
from onair_api.access.hidden_fields import payload_without_addresses
from onair_api.access.target import Target
from onair_api.event.changes.resource_change import ResourceChange
from onair_api.event.event import LAYOUT_FAMILY, LIVE_FAMILY, Event, Position, dumps
from onair_crds.shapes import JsonObject

CREATE, UPDATE, DELETE = "create", "update", "delete"
ADD, REMOVE, STATE, BATCH = "add", "remove", "state", "batch"

_IDS = uuid.UUID("a3c1d0d2-94a5-5d0b-8d0c-5b9e5b1f7c11")


@dataclass(frozen=True)
class Announcement:
    type: str
    """`collection`, `project`, `source`, `destination`, `layout` or `layer`."""
    sub_type: str
    record: JsonObject
    target: Target
    subject: str = ""
    """Distinguishes events of the same change and type: a layer's id, a project's."""
    projects: tuple[str, ...] = ()
    """Projects whose guests see it although it belongs to their collection."""
    places: int = 1
    """Positions that it takes. Its event has the last: another replica may announce the same as so many."""
    of_others: bool = False
    """Another write than the one with the change's note made it, between the two versions."""

    def event(
        self, change: ResourceChange, part: int, audiences: tuple[AudienceKey, ...], prefix: str
    ) -> Event:
        """Makes the event of an announcement.

        Args:
            part: counts the announcements of the change.
            audiences: who may see it.
            prefix: of the event's name (`operations.md`, Names and payloads of resource-change events).
        """
        note = None if self.of_others else change.note
        family = LAYOUT_FAMILY if self.type in ("layout", "layer") else LIVE_FAMILY
        types = f"EVENT_TYPE_{self.type.upper()}:EVENT_SUB_TYPE_{self.sub_type.upper()}"
        name = f"{prefix}:{family}:{types}"
        ends = self.sub_type == DELETE and self.type == change.kind.lower()
        version = "gone" if ends else str(change.entry.version)
        payload: JsonObject = {self.type: {self.sub_type: self.record}}
        reduced = payload_without_addresses(payload)
        body: JsonObject = {
            "id": str(uuid.uuid5(_IDS, f"{change.entry.uid}\n{version}\n{name}\n{self.subject}")),
            "name": name,
            "payload": payload,
        }
        if family == LAYOUT_FAMILY:
            body["resourceVersion"] = str(change.position.number)
        if note and note.metadata is not None:
            body["requestMetadata"] = note.metadata
        body["target"] = self.target.json()
        return Event(
            name=name,
            body=dumps(body),
            reduced_body=None if reduced is payload else dumps({**body, "payload": reduced}),
            target=self.target,
            source=change.kind,
            position=Position(change.position.number, change.position.part + part),
            audiences=audiences,
            family=family,
            session_id=note.session_id if note else None,
        )
