"""All parts of one running facade, and how an endpoint reaches them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from starlette.requests import Request

from onair_api.settings import Settings

if TYPE_CHECKING:
    from onair_api.auth.api_keys import ApiKeys
    from onair_api.auth.expiry import Sweeper
    from onair_api.auth.guest_codes import GuestCodes
    from onair_api.auth.rate_limits import RateLimits
    from onair_api.auth.signing_keys import SigningKeys
    from onair_api.auth.tokens import Tokens
    from onair_api.cache.cluster import Cluster
    from onair_api.event.custom.publisher import Publisher
    from onair_api.event.service import Events
    from onair_api.event.stream.streams import Streams
    from onair_api.layout.layer.service import Layers
    from onair_api.layout.service import Layouts
    from onair_api.live.authentication.service import Authentication
    from onair_api.live.broadcast.service import Broadcasts
    from onair_api.live.collection.service import Collections
    from onair_api.live.destination.service import Destinations
    from onair_api.live.project.service import Projects
    from onair_api.live.project.sources import ProjectSources
    from onair_api.live.room.service import Rooms
    from onair_api.live.source.service import Sources


@dataclass(frozen=True)
class Services:
    settings: Settings
    cluster: Cluster
    keys: SigningKeys
    api_keys: ApiKeys
    tokens: Tokens
    rate_limits: RateLimits
    authentication: Authentication
    guest_codes: GuestCodes
    sweeper: Sweeper
    collections: Collections
    projects: Projects
    destinations: Destinations
    broadcasts: Broadcasts
    sources: Sources
    project_sources: ProjectSources
    rooms: Rooms
    layouts: Layouts
    layers: Layers
    events: Events

    @property
    def streams(self) -> Streams:
        return self.events.streams

    @property
    def publisher(self) -> Publisher:
        return self.events.publisher


def services_of(request: Request) -> Services:
    return cast("Services", request.app.state.services)
