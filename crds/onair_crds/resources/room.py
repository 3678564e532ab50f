"""The hosted WebRTC room of a project: whether it is wanted open, and who is in it."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from onair_crds.resources.base import MAX_TEXT, SpecModel
from onair_crds.resources.enums import RoomPhase, RoomState
from onair_crds.resources.values import Timestamp

MAX_IDENTITY = 320
"""A user's id and what makes a second participant of theirs another one."""
MAX_BARRED = 200
MAX_SHOWN_PARTICIPANTS = 50


class BarredParticipant(SpecModel):
    """Somebody who was removed from the room."""

    identity: Annotated[str, Field(min_length=1, max_length=MAX_IDENTITY)]
    """Identity in the room; it cannot join."""
    user: Annotated[str, Field(max_length=MAX_IDENTITY)] | None = None
    """User that gets no more tokens for the room, under any identity. Absent for those who run the show."""
    token: Annotated[str, Field(max_length=64)] | None = None
    """Fingerprint of the access token that gets no more tokens for the room."""
    lineage: Annotated[str, Field(max_length=64)] | None = None
    """Mark of what that token goes back to: neither its refreshes get tokens for the room, nor those that it
    invited, unless it is the owner's. Absent where it is not known, and for a join of whoever removed it."""


class RoomWanted(SpecModel):
    """Whether the hosted room is wanted open."""

    state: RoomState = RoomState.CLOSED
    """Open opens the room, Closed disconnects everybody. A room that closed because it was empty opens
    again by a higher opening, or by Closed and then Open."""
    opening: Annotated[int, Field(ge=0)] = 0
    """Counts how often the room was opened; a higher number opens it again."""
    barred: Annotated[list[BarredParticipant], Field(max_length=MAX_BARRED)] = []
    """Those who were removed since the room was opened."""


class RoomParticipant(SpecModel):
    """Somebody who is in the room."""

    identity: Annotated[str, Field(max_length=MAX_IDENTITY)]
    """Identity in the room."""
    display_name: Annotated[str, Field(max_length=256)] | None = None
    """Name that the others are shown."""
    joined: Timestamp
    """When they joined."""
    hidden: bool | None = None
    """They watch unseen."""
    publishing: Annotated[list[Annotated[str, Field(max_length=32)]], Field(max_length=16)] = []
    """Sources of the tracks that they publish, such as Camera and Microphone."""


class RoomStatus(SpecModel):
    """The hosted room as the room server has it."""

    opening: Annotated[int, Field(ge=0)]
    """Which opening of the room this is."""
    phase: RoomPhase
    """Opening and Closing until the room server has done it."""
    since: Timestamp
    """When the phase began."""
    empty_since: Timestamp | None = None
    """Since when nobody is in the room who holds it open."""
    was_empty: bool | None = None
    """It closed because nobody was in it, although it is wanted open."""
    count: Annotated[int, Field(ge=0)] = 0
    """How many are in the room, previews and those unseen included."""
    participants: Annotated[list[RoomParticipant], Field(max_length=MAX_SHOWN_PARTICIPANTS)] = []
    """The first of them, in the order in which they joined."""
    error: Annotated[str, Field(max_length=MAX_TEXT)] | None = None
    """Why the room server does not do what is wanted; no secret."""
