"""Handles what a stream's client sends while it is open: counted, and never the end of the stream."""

from __future__ import annotations

from collections.abc import Callable

from onair_api.errors import Internal, ResourceExhausted
from onair_api.event.stream.request_handler import RequestHandler
from onair_api.event.stream.requests import BadRequest, StreamRequest
from onair_api.event.stream.session import Session
from onair_api.event.stream.stream_admission import StreamAdmission
from onair_api.unexpected_errors import log_unexpected


class Incoming:
    def __init__(self, admission: StreamAdmission, requests: RequestHandler) -> None:
        self._admission = admission
        self._requests = requests

    async def take(self, session: Session, decode: Callable[[], StreamRequest]) -> bool:
        """Replies to one message, also with its error; gives whether its rate allowed it."""
        await self._requests.turn(session)
        try:
            request: StreamRequest | BadRequest = decode()
        except BadRequest as error:
            request = error
        try:
            self._admission.count(session.token, session.identity)
        except ResourceExhausted as error:
            session.reply_error(request.correlation_id, error)
            return False
        try:
            if isinstance(request, BadRequest):
                session.reply_error(request.correlation_id, request)
            else:
                await self._requests.handle(session, request)
        except Exception as error:  # noqa: BLE001 - one request never ends the stream; no text, it may quote it
            kind = "" if isinstance(request, BadRequest) else request.kind
            log_unexpected("stream.request_failed", error, kind=kind)
            session.reply_error(request.correlation_id, Internal("internal error; it was logged"))
        return True
