"""The operations on events."""

from __future__ import annotations

from onair_api.auth.callers import ByAccessToken
from onair_api.auth.roles import GUESTS
from onair_api.errors import Code
from onair_api.event.service import Events
from onair_api.event.stream.handshake import ACCESS, STREAM_EVENTS
from onair_api.event.stream.http_stream import HttpStreams
from onair_api.event.stream.websocket import WebSocketStreams
from onair_api.operation import Operation, StreamOperation

PATH = "/event/v2"

EVENTS = (
    Operation(
        name="PublishEvent",
        method="POST",
        path=PATH + "/publish",
        access=ByAccessToken(GUESTS),
        service=Events,
        serve=Events.publish,
        tag="events",
        summary="Publish a custom event",
        description="Without a target it reaches the sessions of the same user. The payload is not "
        "inspected.",
        request="PublishEventRequest",
        example={"name": "poll:opened", "payload": {"question": "Which song next?"}},
        response="Event",
        more_errors=(Code.NOT_FOUND,),
    ),
    StreamOperation(
        name=STREAM_EVENTS,
        method="GET",
        path=PATH + "/stream",
        access=ACCESS,
        http=HttpStreams,
        websocket=WebSocketStreams,
        tag="events",
        summary="Stream events",
        description="One message a line, or server-sent events where `Accept: text/event-stream`; the same "
        "path is a WebSocket. `docs/reference/events.md` has its messages.",
        response="StreamEventsResponse",
        only_errors=(Code.UNAUTHENTICATED, Code.PERMISSION_DENIED, Code.RESOURCE_EXHAUSTED),
    ),
)
