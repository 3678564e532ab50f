"""Schemas of live sources."""

from __future__ import annotations

from onair_api.live.source.record import SOURCE_MESSAGE
from onair_api.wire.schema import (
    BOOLEAN,
    INTEGER,
    STRING,
    TIME,
    Schemas,
    array,
    enumeration,
    listing,
    record,
    reference,
    request_schemas,
    resource_schema,
)
from onair_crds.resources.enums import ConnectState

CONNECT = {**enumeration(ConnectState), "description": "CONNECTED while media bytes arrive."}
NUMBER = {"type": "number"}
VIDEO = record({"codec": STRING, "width": INTEGER, "height": INTEGER, "framerate": NUMBER}, ("codec",))
AUDIO = record({"codec": STRING, "sampleRate": INTEGER, "channels": INTEGER}, ("codec",))


def source_schemas() -> Schemas:
    """Schemas of the messages of source operations, by name."""
    schemas = request_schemas("Source", SOURCE_MESSAGE, ("address",))
    ids = ("collectionId", "sourceId")
    schemas["Source"] = resource_schema(SOURCE_MESSAGE, ids, schemas, {"connect": CONNECT})
    schemas["Source"]["properties"] |= {
        "since": {**TIME, "description": "When connect last changed; absent while it never was CONNECTED."},
        "lastError": {**STRING, "description": "Why it is not connected, or what pages cannot decode of it."},
        "media": {**record({"video": VIDEO, "audio": AUDIO}, ()), "description": "What arrives."},
        "replacedKey": {
            **BOOLEAN,
            "description": "True while it is connected with a stream key that has been replaced.",
        },
    }
    _add_assigned_fields(schemas)
    source = {"source": reference("Source")}
    return schemas | {
        "GetSourcesResponse": listing("sources", reference("Source")),
        "SourceResponse": record(source),
        "HlsPreview": record({"enabled": BOOLEAN, "url": STRING}, ("enabled",)),
        "UpdateSourceResponse": record({**source, "broadcastUpdated": BOOLEAN}),
        "DeleteSourceResponse": record({"projectIdsUpdated": array(STRING)}),
    }


def _add_assigned_fields(schemas: Schemas) -> None:
    """Fields that the service assigns; ignored where a request has them."""
    secret = {**STRING, "readOnly": True, "description": "Assigned; shown only to hosts and co-hosts."}
    assigned = {**STRING, "readOnly": True, "description": "Assigned."}
    schemas["PushedSource"]["properties"] |= {"key": secret, "streamId": secret, "url": secret}
    endpoint = record({"protocol": STRING, "region": STRING, "baseUrl": STRING}, ("protocol", "baseUrl"))
    several = "Assigned: all addresses, if there are several."
    schemas["PushedSource"]["properties"] |= {
        "baseUrl": {**assigned, "description": "Assigned; absent while no address is known."},
        "endpoints": {**array(endpoint), "readOnly": True, "description": several},
    }
    schemas["WebRtcPreview"]["properties"]["participantId"] = assigned
    schemas["PulledSource"].pop("required", None)  # the url is a secret, so not every caller is shown it
