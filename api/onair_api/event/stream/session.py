"""One open stream: its subscriptions, its replies, and what it has not been given yet."""

from __future__ import annotations

import asyncio
import secrets

from onair_api.access.audiences import GuestPlace, Owner, Visibility
from onair_api.access.target import Target
from onair_api.auth.identity import Identity
from onair_api.errors import Code, RpcError
from onair_api.event.event import Framing, dumps, result_message
from onair_api.event.replay.closed_session_position import ResumedSession
from onair_api.event.stream.sender import Sender
from onair_api.event.subscription import Subscription
from onair_crds.shapes import JsonObject

NOT_SENT_IN_TIME = "events were lost because they were not read, or could not be sent, in time"


class Session:
    """Holds state; `EventStreams` acts on it."""

    __slots__ = (
        "channels",
        "closed",
        "end_timers",
        "id",
        "identity",
        "origin",
        "place",
        "resumed",
        "revoked",
        "sender",
        "subscriptions",
        "token",
        "visibility",
    )

    def __init__(
        self,
        session_id: str,
        identity: Identity,
        visibility: Visibility,
        token: str,
        sender: Sender,
        place: GuestPlace | None = None,
    ) -> None:
        self.id = session_id
        self.identity = identity
        self.visibility = visibility
        self.token = token
        """Id of its token."""
        self.sender = sender
        sender.loss_message = self._loss_message
        self.origin = secrets.token_hex(8)
        """Identifies this connection; clients choose session ids."""
        self.subscriptions: dict[tuple[str, Target], Subscription] = {}
        self.channels: tuple[str, ...] = ()
        """Users whose custom events it may receive."""
        self.resumed: ResumedSession | None = None
        self.end_timers: list[asyncio.TimerHandle] = []
        self.place = place
        """Of a guest: what it reached when it opened."""
        self.revoked = False
        """Its token was revoked."""
        self.closed = False

    @property
    def owner(self) -> Owner:
        """Who owns what it sees: a guest's host."""
        return self.place.owner if self.place else self.identity.owner

    def reply(self, correlation_id: str | None, name: str, value: bytes) -> None:
        """Replies to a request, or reports something about the stream itself.

        Args:
            value: JSON.
        """
        fields = {} if correlation_id is None else {"correlationId": dumps(correlation_id)}
        self.sender.push(self._framed({**fields, "sessionId": dumps(self.id), name: value}))

    def reply_error(self, correlation_id: str | None, error: RpcError) -> None:
        self.reply(correlation_id, "error", dumps(_error_json(error.code, error.message)))

    def report_loss(self, text: str = NOT_SENT_IN_TIME) -> None:
        """Says that events were lost."""
        self.sender.push(self._loss_message(text), is_loss=True)

    def ask_to_reconnect(self, before: float, *, reauthenticate: bool) -> None:
        """Asks the client to open another stream before this one ends.

        Args:
            before: when this stream ends, in seconds since the epoch.
        """
        timestamp_ms = str(round(before * 1000))
        value = {"reauthenticate": reauthenticate, "beforeTimestamp": timestamp_ms}
        self.reply(None, "reconnectBefore", dumps(value))

    def _loss_message(self, text: str = NOT_SENT_IN_TIME) -> bytes:
        error = dumps(_error_json(Code.DATA_LOSS, text))
        return self._framed({"sessionId": dumps(self.id), "error": error})

    def _framed(self, fields: dict[str, bytes]) -> bytes:
        return self.sender.format.frame(result_message(fields))


def _error_json(code: Code, text: str) -> JsonObject:
    """An in-stream error; the message begins with the code's name (`interface.md`, Errors)."""
    return {"code": int(code), "message": f"{code.name}: {text}"}


def final_message(error: RpcError, format_: Framing) -> bytes:
    """The framed last message of a stream that ends with an error. Clients look for it in both places."""
    body = error.body()
    return format_.frame(dumps({"error": body, **body}))
