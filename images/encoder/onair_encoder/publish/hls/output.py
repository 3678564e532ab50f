"""Packages the programme into HLS segments, and stores them in a bucket."""

from __future__ import annotations

import asyncio
import contextlib
import secrets

from onair_crds.contract.program import LONGEST_DRAIN_S, ProgramDestination, ProgramStorage
from onair_crds.media.segmenter import Segmenter
from onair_crds.session_error import SessionError
from onair_encoder.publish.hls.drain import DrainTerms, drain
from onair_encoder.publish.hls.kept_segments import place_key
from onair_encoder.publish.hls.leftovers import spool_of
from onair_encoder.publish.hls.live_window import LiveWindow
from onair_encoder.publish.hls.object_store import ObjectStore
from onair_encoder.publish.hls.prefix_lock import PrefixLock, prefix_of
from onair_encoder.publish.hls.presentation import Presentation, SegmentWriter
from onair_encoder.publish.hls.recording import Recording
from onair_encoder.publish.hls.spool_writer import SpoolWriter
from onair_encoder.publish.hls.steady_clock import STEADY_CLOCK
from onair_encoder.publish.hls.upload import Upload
from onair_encoder.publish.output import DeliverySession, Output
from onair_encoder.publish.supplied_destination import SuppliedDestination

FINISHED_S = 1.0
"""After the time to drain, for what has to be cancelled."""


class HlsOutput(Output):
    """Cuts and keeps segments from its begin to its end, whatever becomes of sessions meanwhile."""

    finish_s = 8.0
    drain_s = float(LONGEST_DRAIN_S)
    still_s = 30.0
    """What waits of a recording is stored after the stop, unless the storage took nothing for so long."""

    def __init__(self, destination: SuppliedDestination) -> None:
        super().__init__(destination)
        if destination.wanted.storage and destination.wanted.storage.vod:
            self.finish_s = self.drain_s + FINISHED_S
            self.records = True
        self._storing: _Storing | None = None

    def keeps_session(self, before: ProgramDestination, after: ProgramDestination) -> bool:
        """Whether the prefix and the kind of playlist stay."""
        if before.storage is None or after.storage is None:
            return False

        def place(storage: ProgramStorage) -> tuple[object, ...]:
            return storage.endpoint, storage.region, storage.bucket, storage.prefix, storage.vod

        return place(before.storage) == place(after.storage)

    async def begin(self) -> None:
        if storage := self.destination.wanted.storage:
            short_s = type(self).finish_s
            longest_s = self.drain_s if storage.vod else short_s
            self._storing = _Storing(self.destination, storage, DrainTerms(short_s, longest_s, self.still_s))

    def gives_way_to(self, wanted: ProgramDestination) -> bool:
        """Whether that one is to go on with this recording, and with what of it still waits."""
        mine, other = self.destination.wanted.storage, wanted.storage
        return bool(mine and other and mine.vod and other.vod and prefix_of(mine) == prefix_of(other))

    def updated(self) -> bool:
        """Takes a change; whether it may fix what is wrong, as other credentials may."""
        storage = self.destination.wanted.storage
        return bool(self._storing and storage and self._storing.update(storage))

    async def open(self) -> DeliverySession:
        if self._storing is None:
            raise SessionError("the destination names no storage", permanent=True)
        await self._storing.upload.resume()
        return self._storing.upload

    async def conclude(self) -> None:
        if self._storing:
            await self._storing.conclude()

    async def close(self) -> None:
        if self._storing:
            await self._storing.close()


class _Storing:
    """All that outlives a session."""

    def __init__(self, destination: SuppliedDestination, storage: ProgramStorage, terms: DrainTerms) -> None:
        self._storage = storage
        self._over = False
        """Nothing more is to be stored."""
        writer = SegmentWriter(destination.run.broadcast, destination.run.epoch, secrets.token_hex(3))
        self._presentation: Presentation = (
            Recording(storage, writer) if storage.vod else LiveWindow(storage, writer)
        )
        self._store = ObjectStore(destination, storage)
        self._lock = PrefixLock(storage, terms.least_s + 1, destination.stop.is_set)
        self._spool_writer = SpoolWriter(
            destination.fan_out,
            Segmenter(storage.segment_duration_ms, STEADY_CLOCK),
            spool_of(
                place_key(storage, destination.run.broadcast),
                self._presentation.spool_s,
                keeps=storage.vod,
            ),
        )
        if not destination.stop.is_set():
            self._spool_writer.begin()
        closing = asyncio.Event()
        self.upload = Upload(
            destination, self._spool_writer, self._presentation, self._store, self._lock, closing
        )
        self._time = asyncio.create_task(self._drain(destination, closing, terms))

    async def _drain(
        self, destination: SuppliedDestination, closing: asyncio.Event, terms: DrainTerms
    ) -> None:
        """Takes nothing more of the show once it is to stop, and returns when the time to store is over."""
        await destination.stop.wait()
        self._spool_writer.stop()
        await drain(destination, self._store.taken, closing, terms)

    async def conclude(self) -> None:
        """Stores the rest for as long as there is time; what is left then is missing."""
        storing = asyncio.create_task(self.upload.conclude())
        try:
            await asyncio.wait({storing, self._time}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            storing.cancel()
            await asyncio.gather(storing, return_exceptions=True)
        self.upload.give_up()
        self._over = True

    def update(self, storage: ProgramStorage) -> bool:
        """Whether anything has changed."""
        if storage == self._storage:
            return False
        self._storage = storage
        self._store.update(storage)
        self._presentation.update(storage)
        self._spool_writer.segmenter.target_ms = storage.segment_duration_ms
        self._spool_writer.spool.most_s = self._presentation.spool_s
        # A recording that was complete may be longer now
        self._spool_writer.ready.set()
        return True

    async def close(self) -> None:
        time_is_over = self._time.done()
        self._time.cancel()
        try:
            if self._over:
                await self._spool_writer.close()
            elif time_is_over or not self._storage.vod:
                # It was cancelled as it did not end by itself
                self.upload.give_up()
                await self._spool_writer.close()
            else:
                # Aborted: the agent is about to be restarted, or another destination continues
                await self._spool_writer.leave()
        finally:
            self._lock.release()
            await self.upload.deletions.close()
            with contextlib.suppress(Exception):
                await asyncio.shield(self._store.close())
