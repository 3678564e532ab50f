"""The table: every operation of the interface, and the schemas that their messages name.

From a row of a family's table one hop leads to the service method that serves it. The order matters for
speed only: routes are tried one after another.
"""

from __future__ import annotations

from onair_api.event.operations import EVENTS
from onair_api.event.schemas import event_schemas
from onair_api.layout.layer.operations import LAYERS
from onair_api.layout.operations import LAYOUTS
from onair_api.layout.schemas import layout_schemas
from onair_api.live.authentication.operations import AUTHENTICATION
from onair_api.live.authentication.schemas import token_schemas
from onair_api.live.broadcast.operations import BROADCASTS
from onair_api.live.broadcast.schemas import broadcast_schemas
from onair_api.live.collection.operations import COLLECTIONS
from onair_api.live.collection.schemas import collection_schemas
from onair_api.live.destination.operations import DESTINATIONS
from onair_api.live.destination.schemas import destination_schemas
from onair_api.live.project.operations import PROJECTS
from onair_api.live.project.schemas import project_schemas
from onair_api.live.room.operations import ROOMS
from onair_api.live.room.schemas import room_schemas
from onair_api.live.source.operations import SOURCES
from onair_api.live.source.schemas import source_schemas
from onair_api.operation import EMPTY, AnyOperation, StreamOperation
from onair_api.wire.schema import Schemas

OPERATIONS: tuple[AnyOperation | StreamOperation, ...] = (
    *PROJECTS,
    *BROADCASTS,
    *DESTINATIONS,
    *SOURCES,
    *ROOMS,
    *COLLECTIONS,
    *AUTHENTICATION,
    *LAYERS,
    *LAYOUTS,
    *EVENTS,
)


def schemas() -> Schemas:
    """Every schema that an operation names, and those that they name."""
    return {
        EMPTY: {"type": "object"},
        **project_schemas(),
        **broadcast_schemas(),
        **destination_schemas(),
        **source_schemas(),
        **room_schemas(),
        **collection_schemas(),
        **token_schemas(),
        **layout_schemas(),
        **event_schemas(),
    }
