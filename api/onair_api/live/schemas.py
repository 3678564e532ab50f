"""Schemas of the Live interface for the OpenAPI document: records from the models, envelopes around them."""

from __future__ import annotations

from typing import Any

from onair_api.live.authentication.schemas import token_schemas
from onair_api.live.collection.service import COLLECTION_MESSAGE
from onair_api.live.destination.record import DESTINATION_MESSAGE
from onair_api.live.project.record import PROJECT_MESSAGE, TRIGGER_MESSAGE
from onair_api.live.source.record import SOURCE_MESSAGE
from onair_api.wire.message import Message
from onair_api.wire.schema import (
    BOOLEAN,
    INTEGER,
    STRING,
    TIME,
    Schemas,
    add_schema,
    array,
    enumeration,
    field_schema,
    optional,
    record,
    reference,
)
from onair_crds.resources.enums import BroadcastPhase, ImageFormat, Region

MASK = {
    "type": "string",
    "description": "Fields to change: comma-separated, nested ones with dots. One that is named and absent"
    " from the body gets its default. Without a mask: the fields that the body has.",
}


def live_schemas() -> Schemas:
    """Every schema that a Live operation names."""
    schemas: Schemas = {}
    _requests(schemas, "Collection", COLLECTION_MESSAGE, ())
    _requests(schemas, "Project", PROJECT_MESSAGE, ())
    _requests(schemas, "Destination", DESTINATION_MESSAGE, ("address",))
    _requests(schemas, "Source", SOURCE_MESSAGE, ("address",))
    schemas["Project"] = _record(
        schemas,
        PROJECT_MESSAGE,
        ids=("collectionId", "projectId"),
        more={
            "sources": array(reference("Source")),
            "destinations": array(reference("Destination")),
            "triggers": array(record({"source": reference("SourceTrigger")})),
            "guestCodes": array(reference("GuestCode")),
        },
    )
    schemas["Destination"] = _record(
        schemas, DESTINATION_MESSAGE, ids=("collectionId", "projectId", "destinationId")
    )
    schemas["Source"] = _record(schemas, SOURCE_MESSAGE, ids=("collectionId", "sourceId"))
    schemas["Collection"] = _record(
        schemas,
        COLLECTION_MESSAGE,
        ids=("collectionId",),
        more={"projects": array(reference("Project")), "sources": array(reference("Source"))},
    )
    add_schema(TRIGGER_MESSAGE, schemas)
    schemas["SourceTrigger"]["properties"]["sourceId"] = STRING
    _assigned_fields(schemas)
    schemas.update(_envelopes())
    return schemas


def _assigned_fields(schemas: Schemas) -> None:
    """What the service adds to a source; ignored where a request has it."""
    secret = {**STRING, "readOnly": True, "description": "Assigned; shown to hosts and co-hosts alone."}
    assigned = {**STRING, "readOnly": True, "description": "Assigned."}
    schemas["PushedSource"]["properties"] |= {"key": secret, "streamId": secret, "url": secret}
    schemas["PushedSource"]["properties"]["baseUrl"] = assigned
    schemas["WebRtcPreview"]["properties"]["participantId"] = assigned
    schemas["PulledSource"].pop("required", None)  # the url is a secret, so not everybody is shown it


def _requests(schemas: Schemas, name: str, message: Message, required: tuple[str, ...]) -> None:
    fields = {f.name: field_schema(f, schemas) for f in message.fields.values()}
    create = optional({**fields, "requestMetadata": {"type": "object"}})
    if required:
        create["required"] = list(required)
    schemas[f"Create{name}Request"] = create
    schemas[f"Update{name}Request"] = optional(
        {"updateMask": MASK, **fields, "requestMetadata": {"type": "object"}}
    )


def _record(
    schemas: Schemas, message: Message, ids: tuple[str, ...], more: dict[str, Any] | None = None
) -> dict[str, Any]:
    fields = {f.name: field_schema(f, schemas) for f in message.fields.values()}
    always = [f.name for f in message.fields.values() if f.default is not None or f.required]
    properties = {**dict.fromkeys(ids, STRING), **fields, **(more or {})}
    return record(properties, (*ids, *always, "metadata", *(more or {})))


def _envelopes() -> Schemas:
    updated = {"broadcastUpdated": BOOLEAN}
    status = record(
        {
            "collectionId": STRING,
            "projectId": STRING,
            "broadcastId": STRING,
            "duration": {**INTEGER, "description": "Milliseconds from start to stop, or to now."},
            "start": TIME,
            "stop": TIME,
            "phase": enumeration(BroadcastPhase),
            "region": enumeration(Region),
            "datacenter": STRING,
        },
        ("collectionId", "projectId", "phase"),
    )
    return {
        "BroadcastStatus": status,
        "BroadcastStatusResponse": record({"status": reference("BroadcastStatus")}),
        "StartBroadcastResponse": record({"broadcastId": STRING}),
        "CollectionResponse": record({"collection": reference("Collection")}),
        "GetCollectionsResponse": record({"collections": array(reference("Collection"))}),
        "DeleteCollectionResponse": record(
            {"sourcesDeleted": INTEGER, "projectsDeleted": INTEGER, "projectIdsStopped": array(STRING)}
        ),
        "ProjectResponse": record({"project": reference("Project")}),
        "GetProjectResponse": record(
            {"project": reference("Project"), "status": reference("BroadcastStatus")}, ("project",)
        ),
        "UpdateProjectResponse": record({"project": reference("Project"), **updated}),
        "DeleteProjectResponse": record({"broadcastStopped": BOOLEAN, "layoutsDeleted": INTEGER}),
        "DestinationResponse": record({"destination": reference("Destination")}),
        "UpdateDestinationResponse": record({"destination": reference("Destination"), **updated}),
        "DeleteDestinationResponse": record(updated),
        **token_schemas(),
        "GetSourcesResponse": record({"sources": array(reference("Source"))}),
        "SourceResponse": record({"source": reference("Source")}),
        "UpdateSourceResponse": record({"source": reference("Source"), **updated}),
        "DeleteSourceResponse": record({"projectIdsUpdated": array(STRING)}),
        "AddSourceToProjectRequest": optional({"trigger": reference("SourceTrigger")}),
        "UpdateSourceInProjectRequest": optional({"updateMask": MASK, "trigger": reference("SourceTrigger")}),
        "SnapshotResponse": record(
            {"format": enumeration(ImageFormat), "image": {**STRING, "contentEncoding": "base64"}}
        ),
        "CreateWebRtcAccessTokenRequest": {
            **optional({"displayName": {**STRING, "maxLength": 256}, "participantMetadata": {}}),
            "required": ["displayName"],
        },
        "CreateWebRtcAccessTokenResponse": record(
            {"webrtcAccess": record({"accessToken": STRING, "participantId": STRING}, ("accessToken",))}
        ),
        "Empty": {"type": "object"},
    }
