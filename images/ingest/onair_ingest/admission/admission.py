"""Decides who may publish: one publisher for a stream, and nobody but whom the facade admits."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from typing import Literal

from onair_crds.contract.ingest_gateway import stream_of_key
from onair_ingest.admission.facade import Facade, FacadeUnavailable, PublishProtocol
from onair_ingest.mediamtx.client import MediaMtx, MediaMtxUnavailable
from onair_ingest.mediamtx.records import PathSource
from onair_ingest.streams.identity import Identities
from onair_ingest.streams.streams import Streams

PREPARING_S = 5.0
"""How long a publisher that was admitted may take to bring its first media."""
RELEASE_S = 3.0
"""How long MediaMTX may take to close a connection."""
RELEASE_POLL_S = 0.02

Reason = Literal["NoKey", "UnknownKey", "Disabled", "InUse", "WrongProtocol", "Unavailable"]


class Refused(Exception):
    def __init__(self, reason: Reason, message: str) -> None:
        super().__init__(message)
        self.reason = reason


@dataclass(frozen=True)
class Publisher:
    """Somebody who wants to publish. The key is a secret."""

    connection: PathSource
    protocol: PublishProtocol
    key: str


@dataclass(frozen=True)
class _Place:
    """A stream's place, taken by a connection that has not brought media yet."""

    connection: PathSource
    taken_at_s: float


class Admission:
    def __init__(self, facade: Facade, streams: Streams, identities: Identities, mediamtx: MediaMtx) -> None:
        self._facade = facade
        self._streams = streams
        self._identities = identities
        self._mediamtx = mediamtx
        self._places: dict[str, _Place] = {}

    async def admit(self, publisher: Publisher) -> None:
        """Lets somebody publish.

        Raises:
            Refused: they may not.
        """
        stream = stream_of_key(publisher.key)
        place = _Place(publisher.connection, time.monotonic())
        try:
            await self._free(stream)
        except MediaMtxUnavailable as error:
            raise Refused("Unavailable", "the ingest server does not respond") from error
        if stream in self._places:  # two at once: the first one wins
            raise Refused("InUse", "another encoder has just connected with this key")
        self._places[stream] = place
        try:
            await self._ask(publisher)
        except BaseException:
            del self._places[stream]
            raise
        self._identities.admitted(publisher.connection.id, stream)

    async def _ask(self, publisher: Publisher) -> None:
        try:
            refusal = await self._facade.ask(publisher.key, publisher.protocol)
        except FacadeUnavailable as error:
            raise Refused("Unavailable", str(error)) from error
        if refusal:
            raise Refused(refusal.reason, refusal.message)

    async def _free(self, stream: str) -> None:
        """Makes a stream's place free, if nobody holds it, or one who is silent.

        Raises:
            Refused: somebody holds it.
        """
        await self._free_place(stream)
        if self._streams.get(stream) is None:
            return
        await self._streams.look()  # who reconnects may be faster than the last look is old
        deadline_s = time.monotonic() + RELEASE_S
        while held := self._streams.get(stream):
            if held.state.flowing:
                raise Refused("InUse", "another encoder publishes with this key")
            if time.monotonic() > deadline_s:
                raise Refused("InUse", "a silent encoder with this key could not be disconnected")
            await self._streams.disconnect(stream)
            await asyncio.sleep(RELEASE_POLL_S)

    async def _free_place(self, stream: str) -> None:
        place = self._places.get(stream)
        if place is None:
            return
        held = self._streams.get(stream)
        closed = (
            held is not None and held.look.source.id == place.connection.id
        ) or await self._mediamtx.connection(place.connection) is None
        if not closed:
            if time.monotonic() - place.taken_at_s < PREPARING_S:
                raise Refused("InUse", "another encoder has just connected with this key")
            await self._mediamtx.kick(place.connection)
        if held is None:
            self._identities.forget(place.connection.id)
        if self._places.get(stream) is place:
            del self._places[stream]
