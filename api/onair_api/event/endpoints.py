"""HTTP operations of events."""

from __future__ import annotations

from fastapi import APIRouter, FastAPI
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import WebSocketRoute
from starlette.types import Receive, Scope, Send

from onair_api.auth.caller import caller_of
from onair_api.auth.roles import Operation
from onair_api.errors import Code
from onair_api.event.custom.publication import decode_publication
from onair_api.http.body import read_object
from onair_api.http.documented import operation
from onair_api.services import Services, services_of

router = APIRouter(prefix="/event/v2", tags=["events"])


@router.post(
    "/publish",
    **operation(
        Operation.PUBLISH_EVENT,
        "Publish a custom event",
        request="PublishEventRequest",
        response="Event",
        example={"name": "poll:opened", "payload": {"question": "Which song next?"}},
        also=(Code.NOT_FOUND,),
    ),
)
async def publish_event(request: Request) -> Response:
    """Without a target it reaches the sessions of the same user. The payload is not looked into."""
    caller = await caller_of(request, Operation.PUBLISH_EVENT)
    services = services_of(request)
    settings = services.settings
    body = await read_object(request, settings.limits)
    publication = decode_publication(body, settings.events, settings.limits)
    event = await services.publisher.publish(caller.identity, publication, session_id=caller.session_id)
    return Response(event, media_type="application/json")


@router.get(
    "/stream",
    **operation(
        Operation.STREAM_EVENTS,
        "Stream events",
        response="StreamEventsResponse",
        errors=(Code.UNAUTHENTICATED, Code.PERMISSION_DENIED, Code.RESOURCE_EXHAUSTED),
    ),
)
async def stream_events(request: Request) -> Response:
    """One message a line, or server-sent events where `Accept: text/event-stream`; the same path is a
    WebSocket. `docs/reference/events.md` has its messages."""
    return await services_of(request).events.http.open(request)


class WebSocketStream:
    """An application of its own, so that no layer stands between the stream and its connection."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        services: Services = scope["app"].state.services
        await services.events.websocket.serve(scope, receive, send)


def add_websocket(app: FastAPI) -> None:
    """The same path as a WebSocket; it is no operation of the OpenAPI document."""
    app.router.routes.append(WebSocketRoute("/event/v2/stream", WebSocketStream(), name="stream_websocket"))
