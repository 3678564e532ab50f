"""Decides who may publish: one publisher for a stream, and nobody but whom the facade admits.

MediaMTX asks one question at a time; until it is answered it lists no path, admits nobody and ends no stream.
So a decision rests on the last look, and asks nothing of MediaMTX that would wait for its own question.
A publisher that is admitted takes the place of whoever holds its path (`overridePublisher`).
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Literal

from onair_crds.contract.ingest_gateway import stream_of_key
from onair_ingest.admission.facade import Facade, FacadeUnavailable, PublishProtocol
from onair_ingest.mediamtx.client import CONNECTIONS, MediaMtx, MediaMtxUnavailable
from onair_ingest.streams.connection_identity import Identities
from onair_ingest.streams.judgement import Judged
from onair_ingest.streams.streams import Streams

PREPARING_S = 5.0
"""How long a publisher that was admitted may take to bring its first media."""
FORMER_S = 60.0
"""MediaMTX closes a connection that brings nothing long before."""

Reason = Literal["NoKey", "UnknownKey", "Disabled", "InUse", "WrongProtocol", "Unavailable"]


class PublishRefused(Exception):
    """Somebody may not publish, for this reason."""

    def __init__(self, reason: Reason, message: str) -> None:
        super().__init__(message)
        self.reason = reason


@dataclass(frozen=True)
class Publisher:
    """Somebody who wants to publish. Path and key are secrets."""

    connection: str
    protocol: PublishProtocol
    path: str
    key: str
    address: str = ""
    """Where they come from."""


@dataclass(frozen=True)
class _Place:
    """A stream's place, taken by a connection that has not brought media yet."""

    publisher: Publisher
    taken_at_s: float


class Admission:
    """Decides about each connection that wants to publish."""

    def __init__(self, facade: Facade, streams: Streams, identities: Identities, mediamtx: MediaMtx) -> None:
        self._facade = facade
        self._streams = streams
        self._identities = identities
        self._mediamtx = mediamtx
        self._places: dict[str, _Place] = {}

    async def admit(self, publisher: Publisher) -> None:
        """Lets somebody publish; reports those who may not with the key of a source.

        Raises:
            PublishRefused: they may not.
        """
        try:
            await self._admit(publisher)
        except PublishRefused as refused:
            stream = stream_of_key(publisher.key)
            if refused.reason in ("Disabled", "InUse", "WrongProtocol"):
                self._streams.refused(stream, refused.reason, publisher.address)
            raise

    async def _admit(self, publisher: Publisher) -> None:
        if not (self._streams.settled and self._streams.server_responds):
            raise PublishRefused("Unavailable", "it is not known yet who publishes here")
        self._forget_former_places()
        stream = stream_of_key(publisher.key)
        place = _Place(publisher, time.monotonic())
        try:
            silent = await self._silent_holder(stream)
            await self._end_closed_places(publisher.path, stream)
            taken = await self._is_taken(publisher.path, stream)
        except MediaMtxUnavailable as error:
            raise PublishRefused("Unavailable", "the ingest server does not respond") from error
        if stream in self._places:  # two at once: the first one wins
            raise PublishRefused("InUse", "another encoder has just connected with this key")
        if taken or publisher.path in (each.publisher.path for each in self._places.values()):
            raise PublishRefused("InUse", "an encoder with another key publishes at this path")
        self._places[stream] = place
        try:
            await self._ask(publisher)
            if silent and silent.look.path.name != publisher.path:
                await self._mediamtx.kick(silent.look.source)
        except MediaMtxUnavailable as error:
            self._leave(stream, place)
            raise PublishRefused("Unavailable", "the ingest server does not respond") from error
        except BaseException:
            self._leave(stream, place)
            raise
        if self._places.get(stream) is place:  # else it was closed meanwhile
            self._identities.admitted(publisher.connection, stream, publisher.address)

    async def _ask(self, publisher: Publisher) -> None:
        try:
            refusal = await self._facade.ask(publisher.key, publisher.protocol)
        except FacadeUnavailable as error:
            raise PublishRefused("Unavailable", str(error)) from error
        if refusal:
            raise PublishRefused(refusal.reason, refusal.message)

    async def _silent_holder(self, stream: str) -> Judged | None:
        """Who is connected and silent; None if nobody is.

        Raises:
            PublishRefused: somebody publishes, or has just connected.
        """
        holder = self._streams.get(stream)
        if place := self._places.get(stream):
            await self._end_place(stream, place, holder)
        if holder is None or holder.look.source.type not in CONNECTIONS:
            return None
        if holder.state.flowing and await self._is_connected(holder):
            raise PublishRefused("InUse", "another encoder publishes with this key")
        return holder

    async def _end_place(self, stream: str, place: _Place, holder: Judged | None) -> None:
        """Ends the claim of a connection that brings media by now, or is closed, or never brought any."""
        publisher = place.publisher
        if holder is None or holder.look.source.id != publisher.connection:
            connection = await self._mediamtx.source_of(publisher.protocol, publisher.connection)
            if connection and time.monotonic() - place.taken_at_s < PREPARING_S:
                raise PublishRefused("InUse", "another encoder has just connected with this key")
            if connection:
                await self._mediamtx.kick(connection)
            self._identities.forget(publisher.connection)
        self._leave(stream, place)

    def _leave(self, stream: str, place: _Place) -> None:
        """Gives a place up, unless somebody else has it by now."""
        if self._places.get(stream) is place:
            del self._places[stream]

    def _forget_former_places(self) -> None:
        """Those that have long brought media, or never will."""
        former_s = time.monotonic() - FORMER_S
        for stream, place in list(self._places.items()):
            if place.taken_at_s < former_s:
                del self._places[stream]
                holder = self._streams.get(stream)
                if holder is None or holder.look.source.id != place.publisher.connection:
                    self._identities.forget(place.publisher.connection)

    async def _end_closed_places(self, path: str, stream: str) -> None:
        """Ends the claims of other streams to a path whose connection is closed.

        Raises:
            MediaMtxUnavailable
        """
        for other, place in list(self._places.items()):
            former = place.publisher
            if other == stream or former.path != path:
                continue
            if not await self._mediamtx.source_of(former.protocol, former.connection):
                self._identities.forget(former.connection)
                self._leave(other, place)

    async def _is_taken(self, path: str, stream: str) -> bool:
        """Whether somebody with another key is connected at this path, which need not hold the key.

        Raises:
            MediaMtxUnavailable
        """
        here = [each for each in self._streams.all() if each.look.path.name == path]
        return any([each.look.stream != stream and await self._is_connected(each) for each in here])

    async def _is_connected(self, judged: Judged) -> bool:
        """Asks, as whoever reconnects may be faster than the last look is old.

        Raises:
            MediaMtxUnavailable
        """
        source = judged.look.source
        return source.type not in CONNECTIONS or await self._mediamtx.connection(source) is not None
