"""A stream's session without a connection, and what it was sent."""

from __future__ import annotations

from collections.abc import Callable

from onair_api.access.audiences import AudienceKey, Visibility
from onair_api.access.target import Target
from onair_api.auth.identity import Identity
from onair_api.event.event import Event, Format, Position
from onair_api.event.replay.closed_session_position import Unsent
from onair_api.event.stream.session import Session
from onair_crds.resources.enums import Role


def event_of(name: str, number: int = 0, *audiences: AudienceKey) -> Event:
    return Event(name, b"{}", Target(), "Project", Position(number), audiences)


class RecordingSender:
    format = Format.NDJSON
    loss_message: Callable[[], bytes]

    def __init__(self) -> None:
        self.events: list[Event] = []
        self.losses = 0

    def push(self, frame: bytes, event: Event | None = None, *, is_loss: bool = False) -> None:
        if event:
            self.events.append(event)
        self.losses += is_loss

    def withdraw(self) -> Unsent:
        return Unsent([])

    def stalled_s(self, now: float) -> float:
        return 0.0

    def abort(self) -> None: ...

    def end(self, code: int, reason: str) -> None: ...


class RecordedStream:
    """A session, and what it was sent."""

    def __init__(self, *keys: tuple[str, ...], sees_layouts: bool = True, user: str = "u") -> None:
        self._sender = RecordingSender()
        identity = Identity("s", user, user, Role.HOST, ())
        self.session = Session("id", identity, Visibility(user, keys, sees_layouts), "token", self._sender)

    @property
    def losses(self) -> int:
        """How often it was told of a loss."""
        return self._sender.losses

    @property
    def names(self) -> list[str]:
        return [event.name for event in self._sender.events]
