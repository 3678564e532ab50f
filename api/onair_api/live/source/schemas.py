"""Schemas of live sources."""

from __future__ import annotations

from onair_api.live.source.record import SOURCE_MESSAGE
from onair_api.wire.schema import (
    BOOLEAN,
    STRING,
    Schemas,
    array,
    listing,
    record,
    reference,
    request_schemas,
    resource_schema,
)


def source_schemas() -> Schemas:
    schemas = request_schemas("Source", SOURCE_MESSAGE, ("address",))
    schemas["Source"] = resource_schema(SOURCE_MESSAGE, ("collectionId", "sourceId"), schemas)
    _add_assigned_fields(schemas)
    source = {"source": reference("Source")}
    return schemas | {
        "GetSourcesResponse": listing("sources", reference("Source")),
        "SourceResponse": record(source),
        "UpdateSourceResponse": record({**source, "broadcastUpdated": BOOLEAN}),
        "DeleteSourceResponse": record({"projectIdsUpdated": array(STRING)}),
    }


def _add_assigned_fields(schemas: Schemas) -> None:
    """Fields that the service assigns; ignored where a request has them."""
    secret = {**STRING, "readOnly": True, "description": "Assigned; shown to hosts and co-hosts alone."}
    assigned = {**STRING, "readOnly": True, "description": "Assigned."}
    schemas["PushedSource"]["properties"] |= {"key": secret, "streamId": secret, "url": secret}
    schemas["PushedSource"]["properties"]["baseUrl"] = assigned
    schemas["WebRtcPreview"]["properties"]["participantId"] = assigned
    schemas["PulledSource"].pop("required", None)  # the url is a secret, so not every caller is shown it
