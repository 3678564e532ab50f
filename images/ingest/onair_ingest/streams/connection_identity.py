"""Which stream a connection of MediaMTX' belongs to: as its hook admitted it, else by what its API says."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

import structlog

from onair_crds.contract.ingest_gateway import stream_of_key, stream_of_pull
from onair_ingest.mediamtx.client import CONNECTIONS, MediaMtx
from onair_ingest.mediamtx.records import Path, PathSource
from onair_ingest.streams.judgement import Look
from onair_ingest.streams.key import PULLS, key_of

log = structlog.get_logger()

PULL_SOURCE = "rtmpSource"
FORMER_S = 60.0
"""MediaMTX closes a connection that brings nothing long before."""


@dataclass(frozen=True)
class ConnectionIdentity:
    """Whose connection it is."""

    stream: str
    address: str
    """The IP address that it comes from; empty if that is not known."""


class Identities:
    """Whose connections there are, by the connection's id. Holds no key."""

    def __init__(
        self,
        mediamtx: MediaMtx,
        former: Mapping[str, ConnectionIdentity] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """
        Args:
            former: those that an earlier process of this gateway knew.
        """
        self._mediamtx = mediamtx
        self._known = dict(former or {})
        self._former = set(self._known)
        """Those that were not seen yet."""
        self._clock, self._began_s = clock, clock()
        self._established: set[str] = set()
        self.changed = asyncio.Event()
        """Set whenever `known` changes."""

    @property
    def known(self) -> dict[str, ConnectionIdentity]:
        return dict(self._known)

    def admitted(self, connection: str, stream: str, address: str) -> None:
        """The hook admitted this connection."""
        self._know(connection, ConnectionIdentity(stream, address))

    def forget(self, connection: str) -> None:
        """The connection was not admitted after all, or is closed."""
        if self._known.pop(connection, None):
            self.changed.set()

    def _know(self, connection: str, identity: ConnectionIdentity) -> ConnectionIdentity:
        self._known[connection] = identity
        self.changed.set()
        return identity

    async def looks(self, paths: Iterable[Path]) -> list[Look]:
        """The streams among the server's paths. A publisher of none, whom no hook admitted, is disconnected.

        Raises:
            MediaMtxUnavailable
        """
        looks, alive = [], set()
        for path in paths:
            source = path.source
            if source is None or not path.available:
                continue
            if source.type == PULL_SOURCE and path.name.startswith(PULLS):
                looks.append(Look(stream_of_pull(path.name.removeprefix(PULLS)), path, source))
            elif source.type in CONNECTIONS:
                alive.add(source.id)
                if identity := await self._identity(path, source):
                    looks.append(Look(identity.stream, path, source, identity.address))
        for gone in (self._established | self._long_unseen(alive)) - alive:
            self.forget(gone)
        self._established = alive
        return looks

    def _long_unseen(self, alive: set[str]) -> set[str]:
        """Former connections that were closed while no process of this gateway looked."""
        self._former -= alive
        if self._clock() - self._began_s < FORMER_S:
            return set()
        unseen, self._former = self._former, set()
        return unseen

    async def _identity(self, path: Path, source: PathSource) -> ConnectionIdentity | None:
        if known := self._known.get(source.id):
            return known
        # Admitted by an earlier process of this gateway, whose file is lost. Where SRT brought a password,
        # the user is taken for the key: nobody's, so the publisher is disconnected and admitted again.
        connection = await self._mediamtx.connection(source)
        if connection is None:
            return None
        key = key_of(path.name, connection.query, user=connection.user)
        if key is None:
            log.warning("publisher.unknown", protocol=source.type)
            await self._mediamtx.kick(source)
            return None
        return self._know(source.id, ConnectionIdentity(stream_of_key(key), connection.address))
