"""One open stream: its subscriptions, its answers, what it has yet to catch up on."""

from __future__ import annotations

import secrets
from typing import Any

from onair_api.access.audiences import Reach
from onair_api.access.target import Target
from onair_api.auth.identity import Identity
from onair_api.errors import Code, RpcError
from onair_api.event.event import Event, Format, dumps, message
from onair_api.event.replay.closed_session import Resume
from onair_api.event.stream.backlog import Outbox
from onair_api.event.stream.subscriptions import Subscription


class Session:
    """Holds state; `stream.Streams` acts on it."""

    __slots__ = (
        "channels",
        "closed",
        "end_timers",
        "id",
        "identity",
        "origin",
        "outbox",
        "reach",
        "resume",
        "revoked",
        "subscriptions",
        "token",
    )

    def __init__(self, session_id: str, identity: Identity, reach: Reach, token: str, outbox: Outbox) -> None:
        self.id = session_id
        self.identity = identity
        self.reach = reach
        self.token = token
        """Id of its token."""
        self.outbox = outbox
        self.origin = secrets.token_hex(8)
        """Names this connection; session ids are the clients' choice."""
        self.subscriptions: dict[tuple[str, Target], Subscription] = {}
        self.channels: tuple[str, ...] = ()
        """Users whose custom events it may receive."""
        self.resume: Resume | None = None
        self.end_timers: list[Any] = []
        self.revoked = False
        """Its token ended before its time."""
        self.closed = False

    def deliver(self, event: Event) -> None:
        """Gives it an event that it is subscribed to."""
        format_ = self.outbox.format
        frame = event.frame_for_origin(format_) if event.origin == self.origin else event.frame(format_)
        self.outbox.push(frame, event)

    def reply(self, correlation_id: str | None, name: str, value: bytes) -> None:
        """Answers a request, or tells something of the stream itself.

        Args:
            value: JSON.
        """
        fields = {} if correlation_id is None else {"correlationId": dumps(correlation_id)}
        self.outbox.push(self.framed({**fields, "sessionId": dumps(self.id), name: value}))

    def reply_error(self, correlation_id: str | None, error: RpcError) -> None:
        self.reply(correlation_id, "error", dumps(error_json(error.code, error.message)))

    def framed(self, fields: dict[str, bytes]) -> bytes:
        return self.outbox.format.frame(message(fields))

    def loss(self) -> bytes:
        """The message that tells of dropped events."""
        said = dumps(error_json(Code.DATA_LOSS, "events were lost because they were not read in time"))
        return self.framed({"sessionId": dumps(self.id), "error": said})


def error_json(code: Code, text: str) -> dict[str, Any]:
    """An in-stream error; the message begins with the code's name (`interface.md`, Errors)."""
    return {"code": int(code), "message": f"{code.name}: {text}"}


def farewell(error: RpcError, format_: Format) -> bytes:
    """The last message of a stream that could not begin, or may not go on. Clients look in both places."""
    body = error.body()
    return format_.frame(dumps({"error": body, **body}))
