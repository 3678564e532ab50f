"""The operations on events."""

from __future__ import annotations

from onair_api.errors import Code
from onair_api.event.custom.publisher import PUBLISH_ACCESS, PUBLISH_EVENT
from onair_api.event.service import Events
from onair_api.event.stream.handshake import STREAM_ACCESS, STREAM_EVENTS
from onair_api.event.stream.http_stream import HttpStreams
from onair_api.event.stream.websocket import WebSocketStreams
from onair_api.operation import Docs, Errors, Http, Messages, Operation, ServiceMethod, StreamOperation

PATH = "/event/v2"

EVENTS = (
    Operation(
        name=PUBLISH_EVENT,
        http=Http("POST", PATH + "/publish"),
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
        http=Http("GET", PATH + "/stream"),
        access=STREAM_ACCESS,
        http_app=HttpStreams,
        websocket_app=WebSocketStreams,
        messages=Messages(None, "StreamEventsResponse"),
        docs=Docs(
            "events",
            "Stream events",
            "One message a line, or server-sent events where `Accept: text/event-stream`; the "
            "same path is a WebSocket. `docs/reference/events.md` has its messages.",
        ),
        errors=Errors(only=(Code.UNAUTHENTICATED, Code.PERMISSION_DENIED, Code.RESOURCE_EXHAUSTED)),
    ),
)
