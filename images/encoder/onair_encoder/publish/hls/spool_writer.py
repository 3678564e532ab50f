"""Between the fan-out and the spool: cuts segments, and hands them over without waiting."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator

from onair_crds.media.flv import Packet
from onair_crds.media.segmenter import Cut, Segmenter
from onair_crds.runtime.stderr_log import log
from onair_encoder.media.fan_out import FanOut
from onair_encoder.publish.hls.leftovers import left
from onair_encoder.publish.hls.spool import Spool


class SpoolWriter:
    def __init__(self, fan_out: FanOut, segmenter: Segmenter, spool: Spool) -> None:
        self.spool = spool
        self.segmenter = segmenter
        self.ready = asyncio.Event()
        """There may be a segment to store."""
        self.kept: Callable[[], object] = lambda: None
        """Called with each segment that waits from now on."""
        self._fan_out = fan_out
        self._cuts: asyncio.Queue[Cut] = asyncio.Queue()
        if spool.first:
            self.ready.set()
        self._task = asyncio.create_task(self._keep(), name="spool")
        self._takes = False

    def begin(self) -> None:
        """Takes packets; again, if it was stopped."""
        if not self._takes:
            self._takes = True
            for packet in self._fan_out.subscribe(self):
                self.packet(packet)

    def packet(self, packet: Packet) -> None:
        if cut := self.segmenter.put(packet):
            self._cuts.put_nowait(cut)

    async def _keep(self) -> None:
        while True:
            await self.spool.put(await self._cuts.get())
            try:
                self.kept()
            except Exception as error:  # noqa: BLE001  segments are kept, whoever is notified of them
                log("hls.not-counted", error=type(error).__name__)
            self.ready.set()
            self._cuts.task_done()

    def stop(self) -> None:
        """Takes no more packets, and ends the segment that was begun."""
        self._takes = False
        self._fan_out.unsubscribe(self)
        if cut := self.segmenter.flush():
            self._cuts.put_nowait(cut)

    async def flush(self) -> None:
        """Waits until all that was cut is in the spool."""
        await self._cuts.join()

    async def close(self) -> None:
        """Ends, and leaves nothing behind."""
        self.stop()
        self._task.cancel()
        await self.spool.close()

    async def leave(self) -> None:
        """Ends; what waits, and what was cut so far, stays on disk for the agent that follows.

        It is there before anything is waited for: the process may end at any time.
        """
        self.stop()
        self._task.cancel()
        self.spool.leave(self._rest())
        try:
            await self.spool.settled()
        finally:
            left(self.spool)

    def _rest(self) -> Iterator[Cut]:
        while not self._cuts.empty():
            yield self._cuts.get_nowait()
