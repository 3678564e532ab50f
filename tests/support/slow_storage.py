"""A storage that takes what waits of recordings when a test says so."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

from onair_encoder.publish.output import DeliverySession, Output

BACKLOG_S = 60.0


@dataclass
class SlowStorage:
    available: asyncio.Event = field(default_factory=asyncio.Event)


def stores_to(storage: SlowStorage) -> type[Output]:
    """A kind of destination that has a backlog until the storage is available."""

    class Storing(Output):
        finish_s = 600.0

        async def open(self) -> DeliverySession:
            return self

        async def run(self) -> None:
            self.destination.connected()
            self.destination.recorded(BACKLOG_S, 0.0)
            await self.destination.stop.wait()

        async def conclude(self) -> None:
            await storage.available.wait()
            self.destination.recorded(0.0, 0.0)

    return Storing
