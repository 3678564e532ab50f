"""Schemas of destinations."""

from __future__ import annotations

from onair_api.live.destination.record import DESTINATION_MESSAGE
from onair_api.wire.schema import (
    BOOLEAN,
    STRING,
    TIME,
    Schemas,
    enumeration,
    record,
    reference,
    request_schemas,
    resource_schema,
)
from onair_crds.resources.enums import ConnectState

CONNECT = {**enumeration(ConnectState), "description": "CONNECTED while media bytes flow."}


def destination_schemas() -> Schemas:
    """Schemas of the messages of destination operations, by name."""
    schemas = request_schemas("Destination", DESTINATION_MESSAGE, ("address",))
    ids = ("collectionId", "projectId", "destinationId")
    schemas["Destination"] = resource_schema(DESTINATION_MESSAGE, ids, schemas, {"connect": CONNECT})
    schemas["Destination"]["properties"] |= {
        "since": {**TIME, "description": "When connect last changed."},
        "lastError": {**STRING, "description": "What went wrong last; removed with the next connection."},
    }
    destination = {"destination": reference("Destination")}
    return schemas | {
        "DestinationResponse": record(destination),
        "UpdateDestinationResponse": record({**destination, "broadcastUpdated": BOOLEAN}),
        "DeleteDestinationResponse": record({"broadcastUpdated": BOOLEAN}),
    }
