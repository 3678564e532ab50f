"""The event stream as a WebSocket."""

from __future__ import annotations

from starlette.datastructures import Headers, QueryParams
from starlette.types import Message, Receive, Scope, Send

from onair_api.errors import RpcError
from onair_api.event.event import Format
from onair_api.event.stream.event_streams import EventStreams
from onair_api.event.stream.incoming import Incoming
from onair_api.event.stream.request_handler import RequestHandler
from onair_api.event.stream.requests import decode_request, requests_of_query
from onair_api.event.stream.session import Session, final_message
from onair_api.event.stream.stream_admission import (
    SUBPROTOCOL,
    StreamAdmission,
    refusal_of,
    session_id_of,
    token_of,
)
from onair_api.event.stream.token_expiry import CLOSE_CODE
from onair_api.event.stream.websocket_connection import WebSocketConnection, WebSocketSender, connection_of
from onair_api.kubernetes_errors import rpc_error
from onair_api.settings import Settings
from onair_api.unexpected_errors import log_unexpected
from onair_crds.kube.errors import ApiError


class WebSocketStreams:
    """Serves StreamEvents over WebSockets: an ASGI application, with no layer between it and a connection."""

    def __init__(
        self, settings: Settings, admission: StreamAdmission, streams: EventStreams, requests: RequestHandler
    ) -> None:
        self._settings = settings
        self._admission = admission
        self._streams = streams
        self._requests = requests
        self._incoming = Incoming(admission, requests)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One WebSocket, from upgrade to close. No error reaches uvicorn, which would log its text."""
        try:
            await self._serve(scope, receive, send)
        except OSError:  # the client went while it was written to
            return
        except Exception as error:  # noqa: BLE001 - the outermost frame of this connection
            log_unexpected("stream.failed", error)

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        connection = connection_of(scope)
        await receive()
        query, headers = QueryParams(scope["query_string"]), Headers(scope=scope)
        offered = scope.get("subprotocols") or []
        await send(
            {"type": "websocket.accept", "subprotocol": SUBPROTOCOL if SUBPROTOCOL in offered else None}
        )
        token = token_of(headers, query, offered)
        sender = WebSocketSender(connection, self._settings.events)
        try:
            session = await self._open(token, session_id_of(headers, query), sender)
        except RpcError as error:
            connection.write_frames(final_message(refusal_of(error, token), Format.WEBSOCKET))
            await send({"type": "websocket.close", "code": CLOSE_CODE, "reason": ""})
            return
        connection.reads_for = session.owner
        try:
            await self._requests.handle_first(session, requests_of_query(query))
            await self._handle_messages(session, connection, receive)
        finally:
            connection.on_writable = None
            await self._streams.close(session)
            sender.loss_message = bytes  # which is a method of the session, that has the sender

    async def _open(self, token: str, session_id: str | None, sender: WebSocketSender) -> Session:
        try:
            return await self._streams.open(await self._admission.admit(token), session_id, sender)
        except ApiError as error:
            raise rpc_error(error) from error

    async def _handle_messages(
        self, session: Session, connection: WebSocketConnection, receive: Receive
    ) -> None:
        """Replies to requests one after another until the client goes, or the stream has ended.

        What a client sent before it went is handled, as far as its rate allows.
        """
        while (message := await receive())["type"] != "websocket.disconnect":
            if session.closed or connection.close_sent:
                return
            if not await self._handle_message(session, message):
                if not connection.is_open:
                    return
                await self._requests.pause(session)

    async def _handle_message(self, session: Session, message: Message) -> bool:
        text = message.get("text")
        body = text if text is not None else message.get("bytes") or b""
        return await self._incoming.take(session, lambda: decode_request(body, self._settings.limits))
