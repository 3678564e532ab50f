"""Tells the audience of a project who joins its room, leaves it and publishes there, on every replica."""

from __future__ import annotations

import uuid

from onair_api.access.audiences import audiences_of
from onair_api.access.ownership import owner_in
from onair_api.access.target import Target
from onair_api.auth.identity import Identity
from onair_api.cache.cluster import Cluster
from onair_api.cache.watched_kinds import COLLECTION
from onair_api.event.custom.bus import EventBus
from onair_api.event.event import ROOM_FAMILY, Event, Position, dumps
from onair_crds.kube.store import Entry
from onair_crds.shapes import JsonObject

_IDS = uuid.UUID("0f0c6c2e-3a53-5b6e-8a64-5c8b5df1c0a7")


class RoomEvents:
    def __init__(self, cluster: Cluster, bus: EventBus | None, prefix: str) -> None:
        self._cluster = cluster
        self._bus = bus
        self._prefix = prefix

    async def publish(self, project: Entry, sub_type: str, record: JsonObject, cause: str) -> None:
        """Publishes what happened in a project's room; nothing if there is no Redis, or no owner.

        Args:
            sub_type: `JOIN`, `LEAVE`, `PUBLISH` or `UNPUBLISH`.
            cause: names what is reported, so that the same has the same id.

        Raises:
            Unavailable: Redis is unreachable; nobody receives the event.
        """
        target = Target(str(project.spec.get("collectionId")), project.name)
        collection = await self._cluster.get(COLLECTION, str(target.collection_id))
        owner = owner_in(collection) if collection else None
        if self._bus is None or owner is None:
            return
        name = f"{self._prefix}:{ROOM_FAMILY}:EVENT_TYPE_PARTICIPANT:EVENT_SUB_TYPE_{sub_type}"
        body = {
            "id": str(uuid.uuid5(_IDS, cause)),
            "name": name,
            "payload": {"participant": {sub_type.lower(): {**target.json(), **record}}},
            "target": target.json(),
        }
        event = Event(
            name=name,
            body=dumps(body),
            target=target,
            source="",
            position=Position(0),
            audiences=audiences_of(owner, project_uid=project.uid),
        )
        await self._bus.publish(Identity(*owner, "", None, ()), event)
