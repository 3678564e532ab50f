"""Publishes custom events: checks who may, and sends them through Redis to every replica."""

from __future__ import annotations

import uuid

from onair_api.access.audiences import AudienceKey, audiences_of, user_key
from onair_api.access.target import Target
from onair_api.access.visible_targets import visible_target
from onair_api.auth.callers import ByAccessToken
from onair_api.auth.identity import Identity
from onair_api.auth.roles import GUESTS
from onair_api.cache.cluster import Cluster
from onair_api.errors import PermissionDenied
from onair_api.event.custom.bus import EventBus, redis_unavailable
from onair_api.event.custom.publication import Publication
from onair_api.event.event import Event, Position, dumps

PUBLISH_EVENT = "PublishEvent"
PUBLISH_ACCESS = ByAccessToken(GUESTS)
"""Who may publish, over HTTP and on a stream."""


class EventPublisher:
    def __init__(self, cluster: Cluster, bus: EventBus | None) -> None:
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
        """Publishes; returns the Event as JSON.

        Args:
            path: of the target in the request, for error texts.

        Raises:
            NotFound: the caller sees no such target.
            InvalidArgument: the ids of the target do not belong together.
            PermissionDenied: a guest's token names only its collection, which others are in too.
            Unavailable: Redis is unreachable; nobody receives the event.
        """
        target, channel = Target(), identity
        audiences: tuple[AudienceKey, ...] = (user_key(identity.user_id),)
        if publication.target:
            visible = await visible_target(self._cluster, identity, publication.target, path)
            target = visible.complete
            audiences = audiences_of(
                visible.owner, collection_uid=visible.collection_uid, project_uid=visible.project_uid
            )
            channel = Identity(*visible.owner, "", None, ())
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
            raise redis_unavailable()
        await self._bus.publish(channel, event)
        return event.body
