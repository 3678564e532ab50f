"""All parts of one running facade."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeVar

from onair_api.auth.callers import Callers
from onair_api.auth.expiry import Sweeper
from onair_api.auth.signing_keys import SigningKeys
from onair_api.cache.cluster import Cluster
from onair_api.event.service import Events
from onair_api.event.stream.http_stream import HttpStreams
from onair_api.event.stream.message_stream import MessageStreams
from onair_api.event.stream.websocket import WebSocketStreams
from onair_api.ingest.hook import IngestHook
from onair_api.layout.layer.service import Layers
from onair_api.layout.service import Layouts
from onair_api.live.authentication.service import Authentication
from onair_api.live.broadcast.service import Broadcasts
from onair_api.live.collection.service import Collections
from onair_api.live.destination.service import Destinations
from onair_api.live.project.project_sources import ProjectSources
from onair_api.live.project.service import Projects
from onair_api.live.room.kept_values import KeptValues
from onair_api.live.room.room_admission import RoomAdmission
from onair_api.live.room.service import Rooms
from onair_api.live.source.hls import HlsPreviews
from onair_api.live.source.service import Sources
from onair_api.settings import Settings
from onair_crds.runtime.lasting_tasks import LastingTasks

T = TypeVar("T")


@dataclass(frozen=True)
class Services:
    settings: Settings
    cluster: Cluster
    keys: SigningKeys
    callers: Callers
    sweeper: Sweeper
    authentication: Authentication
    collections: Collections
    projects: Projects
    project_sources: ProjectSources
    destinations: Destinations
    broadcasts: Broadcasts
    sources: Sources
    hls_previews: HlsPreviews
    rooms: Rooms
    room_admission: RoomAdmission
    room_values: KeptValues
    layouts: Layouts
    layers: Layers
    events: Events
    ingest_hook: IngestHook
    http_streams: HttpStreams
    websocket_streams: WebSocketStreams
    message_streams: MessageStreams
    tasks: LastingTasks = field(default_factory=LastingTasks)
    """Those that are no other part's."""

    def is_alive(self) -> bool:
        """Whether all that runs beside requests does."""
        return self.cluster.alive and self.events.alive and self.tasks.alive

    def of(self, kind: type[T]) -> T:
        """The part of a class; for the operations, whose rows name the class that serves them."""
        for part in vars(self).values():
            if type(part) is kind:
                return part
        raise LookupError(f"{kind.__name__} is no part of the facade")
