"""All parts of one running facade, and how an endpoint reaches them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from starlette.requests import Request

from onair_api.settings import Settings

if TYPE_CHECKING:
    from onair_api.auth.api_keys import ApiKeys
    from onair_api.auth.service import Authentication
    from onair_api.auth.signing_keys import SigningKeys
    from onair_api.auth.tokens import Tokens
    from onair_api.cache.cluster import Cluster
    from onair_api.layout.layers import Layers
    from onair_api.layout.service import Layouts
    from onair_api.live.broadcast.service import Broadcasts
    from onair_api.live.collection.service import Collections
    from onair_api.live.destination.service import Destinations
    from onair_api.live.project.service import Projects


@dataclass(frozen=True)
class Services:
    settings: Settings
    cluster: Cluster
    keys: SigningKeys
    api_keys: ApiKeys
    tokens: Tokens
    authentication: Authentication
    collections: Collections
    projects: Projects
    destinations: Destinations
    broadcasts: Broadcasts
    layouts: Layouts
    layers: Layers


def services_of(request: Request) -> Services:
    return cast("Services", request.app.state.services)
