"""The operations on events."""

from __future__ import annotations

from onair_api.errors import Code
from onair_api.event.custom.event_publisher import PUBLISH_ACCESS, PUBLISH_EVENT
from onair_api.event.schemas import EVENT_NAME, PATTERN, STRING
from onair_api.event.service import Events
from onair_api.event.stream.http_stream import HttpStreams
from onair_api.event.stream.requests import MAX_TEXT
from onair_api.event.stream.stream_admission import STREAM_ACCESS, STREAM_EVENTS
from onair_api.event.stream.websocket import WebSocketStreams
from onair_api.operation import (
    Docs,
    Errors,
    Filter,
    Http,
    Messages,
    Operation,
    Rpc,
    ServiceMethod,
    StreamOperation,
)
from onair_crds.contract.facade_paths import EVENT_STREAM_PATH
from onair_crds.shapes import JsonSchema

PATH = "/event/v2"
SERVICE = "apis.event.v2.EventService"


def _parameter(name: str, description: str, schema: JsonSchema | None = None) -> Filter:
    return Filter(name, {**(schema or {"type": "string"}), "description": description})


def _request_parameters(kind: str, name: JsonSchema, name_is: str) -> tuple[Filter, ...]:
    target = f"{kind}.target."
    return (
        _parameter(f"{kind}.name", f"{name_is}; required to {kind}.", name),
        _parameter(f"{target}collectionId", f"Collection to {kind} to."),
        _parameter(f"{target}projectId", f"Project to {kind} to."),
        _parameter(f"{target}layoutId", f"Layout to {kind} to.", {"type": "string", "format": "uuid"}),
    )


STREAM_PARAMETERS = (
    _parameter(
        "correlationId", "Tags the replies to the query's requests.", {"maxLength": MAX_TEXT} | STRING
    ),
    _parameter("sessionid", "Names the session; a session of the same name is resumed."),
    _parameter("access_token", "The access token, for clients that cannot send a header."),
    *_request_parameters("subscribe", PATTERN, "Name of events: exact, with wildcards `*`, alternatives `|`"),
    *_request_parameters("unsubscribe", PATTERN, "Name of a subscription"),
    *_request_parameters("publish", EVENT_NAME, "Name of the event, whose payload is `{}`"),
    _parameter("ping", "Returned as `pong`.", {"maxLength": MAX_TEXT} | STRING),
)

EVENTS = (
    Operation(
        name=PUBLISH_EVENT,
        http=Http("POST", PATH + "/publish"),
        rpc=Rpc(SERVICE, method="Publish"),
        access=PUBLISH_ACCESS,
        service=ServiceMethod(Events, Events.publish),
        messages=Messages(
            "PublishEventRequest",
            "Event",
            example={"name": "poll:opened", "payload": {"question": "Which song next?"}},
        ),
        docs=Docs(
            "events",
            "Publish a custom event",
            "Without a target it reaches the sessions of the same user. The payload is not inspected.",
        ),
        errors=Errors(more=(Code.NOT_FOUND,)),
    ),
    StreamOperation(
        name=STREAM_EVENTS,
        http=Http("GET", EVENT_STREAM_PATH),
        rpc=Rpc(SERVICE, method="Stream"),
        access=STREAM_ACCESS,
        http_app=HttpStreams,
        websocket_app=WebSocketStreams,
        messages=Messages(None, "StreamEventsResponse", query=STREAM_PARAMETERS),
        docs=Docs(
            "events",
            "Stream events",
            "Messages of the schema StreamEventsResponse: one a line, or server-sent events where "
            "`Accept: text/event-stream`. The same path is a WebSocket, whose client sends messages of the "
            "schema StreamEventsRequest in text frames; it offers its token as subprotocols `Bearer` and "
            "the token. The query's requests come first.",
        ),
        errors=Errors(only=(Code.UNAUTHENTICATED, Code.PERMISSION_DENIED, Code.RESOURCE_EXHAUSTED)),
    ),
)
