"""Packages the programme into HLS segments, and stores them in a bucket."""

from __future__ import annotations

import asyncio
import contextlib
import datetime as dt
import secrets

from onair_crds.contract.program import ProgramDestination, ProgramStorage
from onair_encoder.publish.destination import Destination
from onair_encoder.publish.hls.live_window import LiveWindow
from onair_encoder.publish.hls.object_store import ObjectStore
from onair_encoder.publish.hls.prefix_lock import PrefixLock
from onair_encoder.publish.hls.presentation import Presentation, Writer
from onair_encoder.publish.hls.recording import Recording
from onair_encoder.publish.hls.segmenter import Segmenter
from onair_encoder.publish.hls.spool import spool_of
from onair_encoder.publish.hls.spool_writer import SpoolWriter
from onair_encoder.publish.hls.upload import Upload
from onair_encoder.publish.output import Output, Session
from onair_encoder.publish.session_error import SessionError

CLOSING_S = 2.0
"""Of the time to end, what is left for closing the playlist."""


class HlsOutput(Output):
    """Cuts and keeps segments from its begin to its end, whatever becomes of sessions meanwhile."""

    finish_s = 8.0

    def __init__(self, destination: Destination) -> None:
        super().__init__(destination)
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
            self._storing = _Storing(self.destination, storage, self.finish_s)

    def updated(self) -> bool:
        """Other credentials may fix what is wrong."""
        storage = self.destination.wanted.storage
        return bool(self._storing and storage and self._storing.update(storage))

    async def open(self) -> Session:
        if self._storing is None:
            raise SessionError("the destination names no storage", permanent=True)
        await self._storing.upload.resume()
        return self._storing.upload

    async def conclude(self) -> None:
        if self._storing:
            await self._storing.upload.conclude()

    async def close(self) -> None:
        if self._storing:
            await self._storing.close()


class _Storing:
    """All that outlives a session."""

    def __init__(self, destination: Destination, storage: ProgramStorage, finish_s: float) -> None:
        self._storage = storage
        writer = Writer(destination.run.broadcast, destination.run.epoch, secrets.token_hex(3))
        self._presentation: Presentation = (
            Recording(storage, writer) if storage.vod else LiveWindow(storage, writer)
        )
        self._store = ObjectStore(destination, storage)
        self._lock = PrefixLock(storage, finish_s + 1)
        self._spool_writer = SpoolWriter(
            destination.fan_out,
            Segmenter(storage.segment_duration_ms, lambda: dt.datetime.now(dt.UTC)),
            spool_of(destination.wanted.id, most_s=self._presentation.spool_s),
        )
        closing = asyncio.Event()
        self.upload = Upload(
            destination, self._spool_writer, self._presentation, self._store, self._lock, closing
        )
        self._timer = asyncio.create_task(_set_in_time(closing, destination.stop, finish_s - CLOSING_S))

    def update(self, storage: ProgramStorage) -> bool:
        """Whether anything has changed."""
        if storage == self._storage:
            return False
        self._storage = storage
        self._store.update(storage)
        self._presentation.update(storage)
        self._spool_writer.segmenter.target_ms = storage.segment_duration_ms
        self._spool_writer.spool.most_s = self._presentation.spool_s
        return True

    async def close(self) -> None:
        self._timer.cancel()
        self._spool_writer.close()
        self._lock.release()
        with contextlib.suppress(Exception):
            await asyncio.shield(self._store.close())


async def _set_in_time(closing: asyncio.Event, stop: asyncio.Event, after_s: float) -> None:
    """Drops what cannot be stored by then, so that the playlist is closed all the same."""
    await stop.wait()
    await asyncio.sleep(after_s)
    closing.set()
