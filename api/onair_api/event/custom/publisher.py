"""Publishes custom events: judged, numbered by Redis, told to every replica."""

from __future__ import annotations

import uuid

from onair_api.access.audiences import Key, guests_key, owner_key, project_key, user_key
from onair_api.access.target import Target
from onair_api.access.visibility import place_of
from onair_api.auth.identity import Identity
from onair_api.cache.cluster import Cluster
from onair_api.errors import PermissionDenied
from onair_api.event.custom.bus import Bus, away
from onair_api.event.event import Event, Position, dumps
from onair_api.event.stream.requests import Publication


class Publisher:
    def __init__(self, cluster: Cluster, bus: Bus | None) -> None:
        self._cluster = cluster
        self._bus = bus

    async def publish(
        self,
        identity: Identity,
        publication: Publication,
        *,
        session_id: str | None,
        origin: str | None = None,
        correlation_id: str | None = None,
        path: str = "target",
    ) -> bytes:
        """Publishes; gives the Event as JSON.

        Args:
            path: where the target stands in the request.

        Raises:
            NotFound: the caller sees no such target.
            InvalidArgument: the ids of the target do not belong together.
            PermissionDenied: a guest's token names its collection alone, which others are in too.
            Unavailable: Redis is away; nobody receives the event.
        """
        target, channel = Target(), identity.user_id
        audiences: tuple[Key, ...] = (user_key(identity.user_id),)
        if publication.target:
            place = await place_of(self._cluster, identity, publication.target, path)
            target = place.whole
            audiences = audiences_of(target, place.owner)
            channel = Identity(*place.owner, "", None, ()).user_id
            if identity.guest and not target.project_id:
                raise PermissionDenied("a guest may publish to its project, not to the whole collection")
        body: dict[str, object] = {
            "id": str(uuid.uuid4()),
            "name": publication.name,
            "payload": publication.payload,
        }
        if publication.metadata is not None:
            body["requestMetadata"] = publication.metadata
        if target:
            body["target"] = target.json()
        event = Event(
            name=publication.name,
            body=dumps(body),
            target=target,
            source="",
            position=Position(0),
            audiences=audiences,
            session_id=session_id,
            origin=origin,
            correlation_id=correlation_id,
        )
        if self._bus is None:
            raise away()
        await self._bus.publish(channel, event)
        return event.body


def audiences_of(target: Target, owner: tuple[str, str] | None) -> tuple[Key, ...]:
    """Whose sessions a target belongs to: its owner's, and its guests'."""
    keys: list[Key] = [owner_key(*owner)] if owner else []
    if owner and target.project_id:
        keys.append(project_key(owner[0], target.project_id))
    elif owner and target.collection_id:
        keys.append(guests_key(owner[0], target.collection_id))
    return tuple(keys)
