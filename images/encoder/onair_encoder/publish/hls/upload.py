"""Stores waiting segments in order, each before the playlist that names it."""

from __future__ import annotations

import asyncio
import contextlib
import time

from onair_crds.runtime.stderr_log import log
from onair_crds.runtime.to_its_end import to_its_end
from onair_crds.session_error import SessionError
from onair_encoder.publish.hls.cancellation import unless
from onair_encoder.publish.hls.deletions import Deletions
from onair_encoder.publish.hls.large_text import read_through
from onair_encoder.publish.hls.object_store import RETRY_S, ObjectStore
from onair_encoder.publish.hls.playlist_guard import PlaylistGuard
from onair_encoder.publish.hls.prefix_lock import PrefixLock
from onair_encoder.publish.hls.presentation import Presentation
from onair_encoder.publish.hls.spool import WaitingSegment
from onair_encoder.publish.hls.spool_writer import SpoolWriter
from onair_encoder.publish.hls.storage_error import NotReadable, TooLarge
from onair_encoder.publish.supplied_destination import SuppliedDestination


class Upload:
    """A session of an HLS destination; what it stored outlives it."""

    def __init__(
        self,
        destination: SuppliedDestination,
        spool_writer: SpoolWriter,
        presentation: Presentation,
        store: ObjectStore,
        lock: PrefixLock,
        closing: asyncio.Event,
    ) -> None:
        """
        Args:
            closing: set when the time to end is nearly over: what is not stored then is dropped.
        """
        self._destination = destination
        self._spool_writer = spool_writer
        # Between attempts, too, which may be half a minute apart
        spool_writer.kept = self._count
        self._presentation = presentation
        self._store = store
        self._guard = PlaylistGuard(store, presentation)
        self._copies = {name: PlaylistGuard(store, presentation, name) for name in presentation.copies}
        self.deletions = Deletions(destination, store, presentation)
        self._lock = lock
        self._closing = closing
        self._resumed = False
        self._tail_refused = False
        """It is tried again after the next playlist."""
        self._displaced = False

    async def resume(self) -> None:
        """Waits for its turn, and continues what another encoder of this run has stored; once.

        Raises:
            SessionError: another destination writes there, or it is not known what is stored.
        """
        if self._resumed:
            if self._displaced:
                await self._look_again()
            return
        await self._lock.acquire()
        try:
            text = await self._guard.read()
        except NotReadable:
            self._presentation.resume_unread()
        else:
            tail = await self._read_tail(text)
            # A thread runs on when it is cancelled, and must not do so during the next attempt
            await to_its_end(asyncio.to_thread(self._presentation.resume, text, tail))
            self._spool_writer.spool.skip_listed(self._presentation.playlist.names())
        self._resumed = True

    async def _look_again(self) -> None:
        """Goes on where no other encoder's playlist is there any more, or that of a broadcast that has ended.

        Raises:
            SessionError: one is, or it is not known.
        """
        try:
            await self._guard.read()
        except NotReadable:
            pass
        except SessionError:
            others = self._guard.others
            # Who is to stop leaves it as it ended, instead of replacing it by the last minute of this one
            if self._destination.stop.is_set() or not (others and self._presentation.may_take_back(others)):
                raise
            await to_its_end(asyncio.to_thread(self._presentation.take_back, others))
        self._displaced = False

    async def _read_tail(self, text: str) -> str:
        """What was stored after this playlist was; empty if that is nothing, or is not known.

        Raises:
            SessionError: it is not known now.
        """
        if name := self._presentation.tail_of(text):
            # Without the right to list, storages deny what does not exist
            with contextlib.suppress(NotReadable):
                return (await self._store.get(name)).text
        return ""

    async def run(self) -> None:
        stopped = asyncio.create_task(self._destination.stop.wait())
        try:
            while True:
                if not self._presentation.complete and not self._destination.stop.is_set():
                    self._spool_writer.begin()
                await self._store_waiting()
                if self._presentation.complete:
                    await self._end_early()
                if self._destination.stop.is_set():
                    return
                ready = asyncio.create_task(self._spool_writer.ready.wait())
                await asyncio.wait({stopped, ready}, return_when=asyncio.FIRST_COMPLETED)
                ready.cancel()
        finally:
            stopped.cancel()

    async def close(self) -> None:
        """Everything outlives a session."""

    async def conclude(self) -> None:
        """Stores the rest and closes the playlist; retries until it is cancelled."""
        self._spool_writer.stop()
        await self._spool_writer.flush()
        playlist = self._presentation.playlist
        while not playlist.ended:
            try:
                await self.resume()
                await self._store_waiting()
                if not playlist.segments:
                    return
                await self._store_end()
                await self.deletions.finish()
            except SessionError as error:
                if error.displaced:
                    self._displaced = True
                    await self.deletions.finish()
                    return
                log("hls.not-ended", id=self._destination.wanted.id, error=str(error))
                await asyncio.sleep(RETRY_S)
            except Exception as error:  # noqa: BLE001  the rest is not to be lost for it
                # An error of ours: its text may hold a key
                log("hls.not-ended", id=self._destination.wanted.id, error=type(error).__name__)
                await asyncio.sleep(RETRY_S)

    async def _end_early(self) -> None:
        """The recording is complete while the show continues, until it may be longer."""
        if not self._presentation.playlist.ended:
            self._spool_writer.stop()
            await self._spool_writer.flush()
            self._spool_writer.spool.clear()
            self._count()
            await self._store_end()
        seconds = self._presentation.storage.max_duration_ms / 1000
        self._destination.disconnected(f"the recording has reached its maximum duration of {seconds:g} s")

    async def _store_waiting(self) -> None:
        spool, presentation = self._spool_writer.spool, self._presentation
        self._spool_writer.ready.clear()
        while (waiting := spool.first) and not presentation.complete and not self._closing.is_set():
            self._count()
            with spool.storing(waiting):
                if not waiting.name and not await self._store_segment(waiting):
                    continue
            presentation.add(waiting.cut, waiting.name)
            spool.done(waiting)
            await self._store_playlist(last=len(spool) == 0)
            self._destination.connected()
        self._count()

    async def _store_segment(self, waiting: WaitingSegment) -> bool:
        """Whether it could be read from the spool, and is stored.

        Raises:
            SessionError: it is not known to be stored, or was cancelled, as the time to end is nearly over.
        """
        spool, name = self._spool_writer.spool, self._presentation.next_name
        try:
            data = await spool.data(waiting)
        except OSError as error:
            log("hls.segment-unreadable", id=self._destination.wanted.id, error=str(error))
            spool.drop(waiting)
            return False
        try:
            await unless(self._closing, self._store.put_segment(name, data))
        except TooLarge:
            # Whatever comes after it would wait for ever
            spool.drop(waiting)
            raise
        await spool.stored(waiting, name)
        self._destination.counters.sent_bytes += len(data)
        self._destination.sent(len(data))
        return True

    async def _store_playlist(self, *, last: bool) -> None:
        """Stores the playlist if it is due, then deletes segments that it no longer needs.

        Args:
            last: no segment waits.

        Raises:
            SessionError: it is not stored, or another encoder's is there.
        """
        presentation = self._presentation
        if not presentation.is_playlist_due(time.monotonic(), last=last):
            await self._store_tail()
            return
        text = presentation.text().encode()
        try:
            await self._guard.store(text)
        except SessionError as error:
            if error.displaced:
                # A cancellation must not leave it undone
                await to_its_end(self._withdraw())
            raise
        await self._store_copies(text)
        presentation.playlist_stored(time.monotonic(), len(text))
        self._tail_refused = False
        self._spool_writer.spool.listed()
        self.deletions.begin()

    async def _store_copies(self, text: bytes) -> None:
        """Stores the playlist under its other names, until a later broadcast's is there.

        Raises:
            SessionError: it is not stored.
        """
        for name, guard in [*self._copies.items()] if self._lock.held else []:
            try:
                await guard.store(text)
                self._presentation.copy_stored()
            except SessionError as error:
                if not error.displaced:
                    raise
                log("hls.copy-ends", id=self._destination.wanted.id, name=name, error=str(error))
                del self._copies[name]

    async def _withdraw(self) -> None:
        """Another encoder has taken over: what neither its playlist nor any other names is deleted."""
        self._displaced = True
        if self._guard.others is None:
            return
        known = await read_through(self._guard.others, self._presentation.known_to)
        withdrawn = self._presentation.withdraw(known)
        self._spool_writer.spool.listed()
        self.deletions.withdraw(withdrawn)

    async def _store_end(self) -> None:
        """Closes the playlist.

        Raises:
            SessionError: it is not known to be stored.
        """
        playlist = self._presentation.playlist
        playlist.ended = True
        try:
            await self._store_playlist(last=True)
        except BaseException:
            playlist.ended = False
            raise

    async def _store_tail(self) -> None:
        """Notes what the stored playlist does not name yet, for an encoder that continues after this one.

        No segment waits because a bucket does not take the note.
        """
        presentation = self._presentation
        if self._tail_refused:
            return
        try:
            await self._store.put_note(presentation.tail, presentation.tail_text().encode())
        except SessionError as error:
            self._tail_refused = True
            log("hls.not-noted", id=self._destination.wanted.id, error=str(error))
            return
        presentation.tail_stored()
        self._spool_writer.spool.listed()

    def _count(self, *, given_up: bool = False) -> None:
        counters, spool = self._destination.counters, self._spool_writer.spool
        counters.queued_bytes = spool.bytes
        counters.dropped = spool.dropped_packets
        # Until then a thread may be filling the playlist, and what this encoder misses is not known
        missing_s = self._presentation.missing_s if self._resumed else 0.0
        waiting_s = spool.waits_s
        if given_up:
            missing_s += waiting_s if self._presentation.lacks_what_waits else 0.0
            waiting_s = 0.0
        self._destination.recorded(waiting_s, missing_s)

    def give_up(self) -> None:
        """What waits will not be stored any more, and is missing where no other encoder has it."""
        self._count(given_up=not self._displaced)
