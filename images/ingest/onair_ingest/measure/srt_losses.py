"""Counts the packets by SRT that networks lose, those included that come when they are sent again."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import suppress

from onair_crds.contract.ingest_gateway import StreamState
from onair_ingest.mediamtx.client import MediaMtx, MediaMtxUnavailable
from onair_ingest.streams.streams import Streams

LOOK_S = 2.0
SRT = "srtConn"


class SrtLosses:
    def __init__(self, mediamtx: MediaMtx, streams: Streams) -> None:
        self._mediamtx = mediamtx
        self._streams = streams
        self._lost: dict[str, int] = {}
        """Packets by connection."""

    def known(self) -> Iterator[tuple[StreamState, int]]:
        """Streams by SRT, and how many packets of their present connections were lost so far."""
        for judged in self._streams.all():
            if (packets := self._lost.get(judged.look.source.id)) is not None:
                yield judged.state, packets

    async def run(self) -> None:
        """Polls the server, while anybody publishes by SRT."""
        while True:
            with suppress(MediaMtxUnavailable):
                await self._look()
            await asyncio.sleep(LOOK_S)

    async def _look(self) -> None:
        publishes = any(judged.look.source.type == SRT for judged in self._streams.all())
        connections = await self._mediamtx.connections(SRT) if publishes else []
        self._lost = {each.id: each.packets_received_loss for each in connections}
