"""The event stream as messages, for a door that frames them itself."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import orjson

from onair_api.auth.callers import MAX_SESSION_ID, CallHeaders
from onair_api.connection.http_connection import Abortable
from onair_api.errors import Code, Internal, RpcError
from onair_api.event.event import dumps
from onair_api.event.stream.event_streams import EventStreams
from onair_api.event.stream.heartbeat import heartbeat
from onair_api.event.stream.http_sender import HttpSender
from onair_api.event.stream.incoming import Incoming
from onair_api.event.stream.requests import request_of
from onair_api.event.stream.session import Session
from onair_api.event.stream.stream_admission import StreamAdmission
from onair_api.settings import Settings
from onair_api.unexpected_errors import log_unexpected
from onair_crds.shapes import JsonObject

_RESULT, _END = b"r", b"e"
"""What a frame begins with: a message that is ready to be sent, or the error that ends the stream as JSON."""


class MessageFraming:
    """Makes messages ready to be sent, those of an event once for all streams that have the same framing."""

    value = "messages"

    def __init__(self, encode: Callable[[JsonObject], bytes]) -> None:
        self._encode = encode

    def frame(self, message: bytes) -> bytes:
        try:
            fields: JsonObject = orjson.loads(message)
            return _RESULT + self._encode(fields["result"]) if "result" in fields else _END + message
        except Exception as error:  # noqa: BLE001 - an odd event ends these streams, and not its delivery to others
            log_unexpected("stream.message_not_encoded", error)
            return _END + dumps(Internal("internal error; it was logged").body())


class MessageStream:
    """One open stream."""

    def __init__(self, session: Session, sender: HttpSender, incoming: Incoming, settings: Settings) -> None:
        self._session = session
        self._sender = sender
        self._incoming = incoming
        self._settings = settings

    async def take(self, message: JsonObject) -> None:
        """Replies to one message of the client, on the stream."""
        await self._incoming.take(self._session, lambda: request_of(message, self._settings.limits))

    def end(self) -> None:
        """Ends `results` after what was sent."""
        self._sender.end(0, "")

    async def results(self) -> AsyncIterator[bytes]:
        """What the client is sent, as its framing encodes it, until the stream ends; heartbeats among it.

        Raises:
            RpcError: the stream ended for a fault.
        """
        # One at a time: of those that were taken, none counts as sent before it is asked for the next
        while (chunk := await self._sender.chunk(self._settings.events.heartbeat_s, 1)) != b"":
            frame = heartbeat(self._session) if chunk is None else chunk
            if frame.startswith(_END):
                raise _Ended(orjson.loads(frame[len(_END) :]))
            yield frame[len(_RESULT) :]


class MessageStreams:
    """Opens streams of messages."""

    def __init__(
        self, settings: Settings, admission: StreamAdmission, streams: EventStreams, incoming: Incoming
    ) -> None:
        self._settings = settings
        self._admission = admission
        self._streams = streams
        self._incoming = incoming

    @asynccontextmanager
    async def open(
        self, headers: CallHeaders, transport: Abortable | None, framing: MessageFraming
    ) -> AsyncIterator[MessageStream]:
        """A stream for as long as the context lasts.

        Args:
            transport: of the response, which is cut if nobody reads.

        Raises:
            RpcError: it cannot open.
            ApiError: the API server had to be asked and did not respond.
        """
        scheme, _, token = (headers.authorization or "").partition(" ")
        verified = await self._admission.admit(token.strip() if scheme.lower() == "bearer" else None)
        sender = HttpSender(framing, transport, self._settings.events)
        named = headers.session_id[:MAX_SESSION_ID] if headers.session_id else None
        session = await self._streams.open(verified, named, sender)
        try:
            yield MessageStream(session, sender, self._incoming, self._settings)
        finally:
            await self._streams.close(session)


class _Ended(RpcError):
    """The error of a stream's last message."""

    def __init__(self, message: JsonObject) -> None:
        super().__init__(str(message["message"]))
        self.code = Code(message["code"])
