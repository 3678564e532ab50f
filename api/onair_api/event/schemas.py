"""OpenAPI schemas of events."""

from __future__ import annotations

from onair_api.event.names import MAX_NAME, MAX_PATTERN
from onair_api.wire.schema import Schemas
from onair_crds.shapes import JsonSchema

STRING = {"type": "string"}
OBJECT = {"type": "object"}
EVENT_NAME: JsonSchema = {"type": "string", "minLength": 1, "maxLength": MAX_NAME}
PATTERN: JsonSchema = {"type": "string", "minLength": 1, "maxLength": MAX_PATTERN}


def event_schemas() -> Schemas:
    """Schemas of the messages of event operations, by name."""
    return {
        "EventTarget": _object(
            {"collectionId": STRING, "projectId": STRING, "layoutId": STRING},
            description="The narrowest id counts; those above it are implied and must match if given.",
        ),
        "PublishEventRequest": _object(
            {
                "name": EVENT_NAME,
                "payload": OBJECT,
                "requestMetadata": OBJECT,
                "target": _reference("EventTarget"),
            },
            required=("name", "payload"),
        ),
        "Event": _object(
            {
                "id": {"type": "string", "format": "uuid"},
                "name": STRING,
                "payload": OBJECT,
                "requestMetadata": OBJECT,
                "target": _reference("EventTarget"),
                "resourceVersion": {
                    **STRING,
                    "description": "Of events of layouts and layers: the layout's version.",
                },
            },
            required=("id", "name", "payload"),
        ),
        "StreamEventsRequest": {
            **_object(
                {
                    "correlationId": {**STRING, "description": "Tags the reply."},
                    "subscribe": _reference("EventSubscription"),
                    "unsubscribe": _reference("EventSubscription"),
                    "publish": _reference("PublishEventRequest"),
                    "ping": {**STRING, "description": "Returned as `pong`."},
                },
                description="One message of a WebSocket's client.",
            ),
            "oneOf": [{"required": [kind]} for kind in ("subscribe", "unsubscribe", "publish", "ping")],
        },
        "StreamEventsResponse": _object(
            {"result": _reference("StreamResult"), "error": _reference("Error")},
            description="One message of the stream; the last one is `error` if the stream ends with one.",
        ),
        "StreamResult": _object(
            {
                "correlationId": STRING,
                "sessionId": STRING,
                "event": _reference("Event"),
                "pong": STRING,
                "error": _object({"code": {"type": "integer"}, "message": STRING}),
                "subscribed": _reference("EventSubscription"),
                "unsubscribed": _reference("EventSubscription"),
                "published": _reference("Event"),
                "reconnectBefore": _object(
                    {
                        "reauthenticate": {"type": "boolean"},
                        "beforeTimestamp": {"type": "string", "description": "Unix milliseconds."},
                    }
                ),
            }
        ),
        "EventSubscription": _object(
            {"name": PATTERN, "target": _reference("EventTarget")}, required=("name",)
        ),
    }


def _reference(name: str) -> JsonSchema:
    return {"$ref": f"#/components/schemas/{name}"}


def _object(properties: JsonSchema, required: tuple[str, ...] = (), description: str = "") -> JsonSchema:
    schema: JsonSchema = {"type": "object", "properties": properties}
    if required:
        schema["required"] = list(required)
    if description:
        schema["description"] = description
    return schema
