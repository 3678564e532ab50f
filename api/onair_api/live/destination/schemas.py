"""Schemas of destinations."""

from __future__ import annotations

from onair_api.live.destination.record import DESTINATION_MESSAGE
from onair_api.wire.schema import BOOLEAN, Schemas, record, reference, request_schemas, resource_schema


def destination_schemas() -> Schemas:
    schemas = request_schemas("Destination", DESTINATION_MESSAGE, ("address",))
    ids = ("collectionId", "projectId", "destinationId")
    schemas["Destination"] = resource_schema(DESTINATION_MESSAGE, ids, schemas)
    destination = {"destination": reference("Destination")}
    return schemas | {
        "DestinationResponse": record(destination),
        "UpdateDestinationResponse": record({**destination, "broadcastUpdated": BOOLEAN}),
        "DeleteDestinationResponse": record({"broadcastUpdated": BOOLEAN}),
    }
