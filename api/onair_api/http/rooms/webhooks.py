"""Takes the room server's webhooks: verified, each once, none of somebody who has left already."""

from __future__ import annotations

import secrets

import structlog
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from onair_api.errors import InvalidArgument, RpcError, Unavailable, Violation
from onair_api.event.custom.room_events import RoomEvents
from onair_api.http.responses import error_response
from onair_api.live.room.kept_values import KeptValues
from onair_api.live.room.room_admission import RoomAdmission
from onair_api.live.room.service import RETRY_S
from onair_api.live.room.webhook import RoomNews, decode, verify
from onair_crds.kube.errors import ApiError
from onair_crds.kube.store import Entry
from onair_crds.room_server.errors import RoomServerError

log = structlog.get_logger()

MAX_BODY_BYTES = 1_048_576
KNOWN_S = 900
"""How long a webhook is known by its id: longer than its token is valid, which the room server renews at each
attempt for a few minutes."""


class RoomWebhooks:
    """POST `/internal/rooms/webhook`."""

    def __init__(self, admission: RoomAdmission, values: KeptValues, events: RoomEvents) -> None:
        self._admission = admission
        self._values = values
        self._events = events

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await self._take(Request(scope, receive))
            response = Response()
        except ClientDisconnect:
            return
        except RpcError as error:
            response = error_response(error)
        await response(scope, receive, send)

    async def _take(self, request: Request) -> None:
        """
        Raises:
            Unauthenticated, InvalidArgument: it is not the room server's.
            Unavailable: Redis is unreachable; the room server sends it again.
        """
        server = self._admission.server
        if server is None:
            raise Unavailable("there is no room server")
        body = await _body(request)
        try:
            credentials = await server.credentials.get()
        except RoomServerError as error:
            raise Unavailable(error.message, retry_after_s=RETRY_S) from error
        verify(body, request.headers.get("authorization"), credentials)
        news = decode(body)
        if news and not news.hidden:
            await self._report(news)

    async def _report(self, news: RoomNews) -> None:
        """Publishes what is new, of the rooms of this installation."""
        project = self._admission.project_of(news.room)
        # What is another's is not claimed: that one may have the same room server and the same Redis
        if project and await self._is_new(news):
            await self._publish(project, news)

    async def _is_new(self, news: RoomNews) -> bool:
        """Whether it is reported for the first time, and not after its participant has left."""
        stay = f"left:{news.session}"
        if news.sub_type == "LEAVE":
            await self._values.put(stay, news.id, KNOWN_S)
        elif await self._values.get(stay):
            return False
        return await self._values.claim(_key(news), secrets.token_hex(8), KNOWN_S)

    async def _publish(self, project: Entry, news: RoomNews) -> None:
        try:
            await self._events.publish(project, news.sub_type, news.record, news.id)
        except (RpcError, ApiError) as error:
            # The room server sends it again, and it is no repetition then
            await self._values.drop(_key(news))
            if isinstance(error, ApiError):
                raise Unavailable("the API server is unavailable", retry_after_s=RETRY_S) from error
            raise


def _key(news: RoomNews) -> str:
    return f"webhook:{news.id}"


async def _body(request: Request) -> bytes:
    parts: list[bytes] = []
    size = 0
    async for part in request.stream():
        size += len(part)
        if size > MAX_BODY_BYTES:
            raise InvalidArgument(Violation("", f"the body is larger than {MAX_BODY_BYTES} bytes"))
        parts.append(part)
    return b"".join(parts)
