"""Plans a room on its server: whether it is there, who is removed from it, what they are called. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import Enum, auto

from onair_crds.contract.participant_roles import verified_role
from onair_crds.contract.previews import preview_metadata
from onair_crds.room_server.client import ServerParticipant, ServerRoom
from onair_crds.room_server.credentials import RoomServerCredentials
from onair_operator.room.participant_metadata import repaired

NO_OPENING = 2**62
"""Above every opening: of a project that is gone."""


@dataclass(frozen=True)
class KeptRoom:
    """How a room is to be kept."""

    project: str
    opening: int | None
    """None if it is to be closed."""
    last: int
    """The opening that it had last; a room of a later one is not closed."""
    barred: frozenset[str] = frozenset()
    """Identities that are removed where they are found."""
    names: frozenset[tuple[str, str]] = frozenset()
    """Identities of previews that there may be, each with the name that it is to have."""


@dataclass(frozen=True)
class RoomView:
    """A room as it was seen last."""

    opening: int | None = None
    """The opening that it is kept for; None while it is not there."""
    participants: tuple[ServerParticipant, ...] = ()
    error: str | None = None
    """Why the room server does not do what is wanted."""


@dataclass(frozen=True)
class RoomServerAccess:
    """The room server, and what its tokens are signed with."""

    url: str
    credentials: RoomServerCredentials


class RoomStep(Enum):
    """What becomes of a room in one pass."""

    DELETE = auto()
    FORGET = auto()
    """It is closed for good: nothing more is wanted of it."""
    LEAVE_CLOSED = auto()
    OPEN = auto()
    LIST = auto()
    """Who is in it is asked."""
    TAKE_AS_EMPTY = auto()


@dataclass(frozen=True)
class Remove:
    """Removes a participant from a room."""

    identity: str


@dataclass(frozen=True)
class Rename:
    """Changes a participant's name and metadata."""

    identity: str
    name: str
    metadata: str


@dataclass(frozen=True)
class ClearAttributes:
    """Deletes a participant's attributes but for their role."""

    identity: str


def next_step(
    wanted: KeptRoom, present: ServerRoom | None, known: RoomView | None, *, is_quiet: bool
) -> RoomStep:
    """Returns what is to be done about a room of the server.

    Args:
        present: as its server lists it, with a count that is some seconds old; None: it is not there.
        known: as it was seen before.
        is_quiet: a room that looks empty may be left alone this time.
    """
    if wanted.opening is None:
        if present and (present.opening or 0) <= wanted.last:
            return RoomStep.DELETE
        return RoomStep.FORGET if wanted.last == NO_OPENING else RoomStep.LEAVE_CLOSED
    if present is None or (present.opening is not None and present.opening < wanted.opening):
        return RoomStep.OPEN
    looks_empty = not present.participants and known is not None and not known.participants
    # Whoever joins a room that shows a source is to see it soon
    return RoomStep.TAKE_AS_EMPTY if looks_empty and is_quiet and not wanted.names else RoomStep.LIST


def changes(
    room: str, wanted: KeptRoom, found: Iterable[ServerParticipant], secret: str
) -> Iterator[Remove | Rename | ClearAttributes]:
    """What is done to who is in the room: who is barred goes, previews have their names, roles are true.

    Whoever has so much about them that it was not read goes too: metadata and attributes are bounded, but not
    the names of tracks, and the others in the room are sent all of it.

    Args:
        secret: of the room server's key, which signs roles.
    """
    names = dict(wanted.names)
    for each in found:
        if each.identity in wanted.barred or each.is_oversized:
            yield Remove(each.identity)
            continue
        name, metadata = each.name, each.metadata
        if preview := names.get(each.identity):
            name, metadata = preview, preview_metadata(preview, each.videos)
        elif not each.hidden:
            metadata = repaired(each, verified_role(secret, room, each.identity, each.attributes))
        if (name, metadata) != (each.name, each.metadata):
            yield Rename(each.identity, name, metadata)
        if each.has_surplus_attributes:
            yield ClearAttributes(each.identity)
