"""Packages the programme into segments and stores them in a bucket, each before its playlist names it."""

from __future__ import annotations

import asyncio
import contextlib
import datetime as dt
import itertools
import re
import shutil
import time
from collections.abc import Coroutine
from typing import Any

from onair_crds.contract.program import ProgramDestination, ProgramStorage
from onair_crds.resources.enums import ConnectState
from onair_encoder.logs import log
from onair_encoder.media.flv import Packet
from onair_encoder.paths import SPOOL
from onair_encoder.publish.hls.bucket import Bucket, NotReadable
from onair_encoder.publish.hls.playlist import Playlist, Segment, named_segments
from onair_encoder.publish.hls.segmenter import Cut, Segmenter
from onair_encoder.publish.hls.spool import Budget, Spool
from onair_encoder.publish.publisher import Publisher
from onair_encoder.publish.session_error import SessionError

Place = tuple[str | None, str, str, str]
"""Endpoint, region, bucket, prefix."""

INDEX = "index.m3u8"
PLAYLIST_TYPE, SEGMENT_TYPE = "application/vnd.apple.mpegurl", "video/mp2t"
FRESH, FOREVER = "no-cache", "public, max-age=31536000, immutable"
PLAYLIST_BYTES_PER_S = 50_000
"""A long recording's playlist is stored less often, so that it takes no more than this of the way up."""
LIVE_SPOOL_S = 60.0
"""What a live window may be behind the show, so that a slow line leads no viewer ever further back."""
RETRY_S = 0.5
REMOVED_AT_ONCE = 4
"""Segments that are deleted with one that is stored: a thousand at once would hold up what is live."""
BEHIND_PLAYLIST_S = 10.0
"""How often a recording's playlist is stored while more segments wait: it takes of the way up."""
CLOSING_S = 2.0
"""Of the time to end, what is left for closing the playlist."""
"""Between attempts while the time-out has not passed, and at the end."""
SEGMENT_NAME = re.compile(r"([a-z0-9-]+-)([0-9]{8,})\.ts")
BUDGET = Budget()
NUMBERS = itertools.count()
PLACES: dict[Place, asyncio.Lock] = {}
"""Who writes where: two that write to one place would overwrite each other's segments."""


class Recorder:
    """Between the fan-out and the spool: cuts, and hands over without waiting."""

    def __init__(self, segmenter: Segmenter, spool: Spool) -> None:
        self.spool = spool
        self.segmenter = segmenter
        self.ready = asyncio.Event()
        """There may be a segment to store."""
        self._cuts: asyncio.Queue[Cut] = asyncio.Queue()
        self._task = asyncio.create_task(self._keep(), name="spool")

    def packet(self, packet: Packet) -> None:
        if cut := self.segmenter.put(packet):
            self._cuts.put_nowait(cut)

    async def _keep(self) -> None:
        while True:
            await self.spool.put(await self._cuts.get())
            self.ready.set()
            self._cuts.task_done()

    async def flush(self) -> None:
        """Hands over what there is of a segment, and waits until all is in the spool."""
        if cut := self.segmenter.flush():
            self._cuts.put_nowait(cut)
        await self._cuts.join()

    def close(self) -> None:
        self._task.cancel()
        self.spool.close()


class HlsPublisher(Publisher):
    finish_s = 8.0

    def __init__(self, *arguments: Any) -> None:
        self._closing_now = asyncio.Event()
        super().__init__(*arguments)

    async def _run(self) -> None:
        if self.destination.storage is None:
            self.tell(ConnectState.DISCONNECTED, "the destination names no storage")
            return
        storage = self._storage
        # Of its own: a successor of the same id may begin while this one ends
        number = next(NUMBERS)
        if number == 0:
            shutil.rmtree(SPOOL, ignore_errors=True)  # of a process that died
        spool = Spool(SPOOL / f"{self.destination.id}.{number}", BUDGET, most_s=self._spool_s)
        segmenter = Segmenter(storage.segment_duration_ms, lambda: dt.datetime.now(dt.UTC))
        self._recorder = Recorder(segmenter, spool)
        self._bucket = Bucket(storage, self._timeout_s)
        self._playlist = Playlist(storage.segment_duration_ms / 1000, window=self._window)
        self._taken_up = self._seam = False
        self._lock: asyncio.Lock | None = None
        """Of the place, once it is ours."""
        self._stored: list[str] = []
        """Segments of the sliding window that are in the bucket, oldest first."""
        self._old: list[str] = []
        """Segments of an earlier run, which the new playlist no longer names."""
        self._told_at, self._told_bytes = 0.0, 0
        for packet in self._fan_out.subscribe(self._recorder):
            self._recorder.packet(packet)
        try:
            await super()._run()
            await self._end_properly()
        finally:
            self._fan_out.unsubscribe(self._recorder)
            self._recorder.close()
            if self._lock:
                self._lock.release()
            with contextlib.suppress(Exception):
                await asyncio.shield(self._bucket.close())

    @property
    def _storage(self) -> ProgramStorage:
        if self.destination.storage is None:
            raise SessionError("the destination names no storage", permanent=True)
        return self.destination.storage

    @property
    def _window(self) -> int | None:
        storage = self._storage
        return None if storage.vod else min(storage.playlist_count, storage.file_count)

    @property
    def _spool_s(self) -> float | None:
        storage = self._storage
        if storage.vod:
            return None
        return max(LIVE_SPOOL_S, storage.playlist_count * storage.segment_duration_ms / 1000)

    def _timeout_s(self) -> float:
        return self.destination.timeout_ms / 1000

    def same_session(self, before: ProgramDestination, after: ProgramDestination) -> bool:
        """Anything but another place, or another kind of playlist."""
        if before.storage is None or after.storage is None:
            return False

        def place(storage: ProgramStorage) -> tuple[object, ...]:
            return storage.endpoint, storage.region, storage.bucket, storage.prefix, storage.vod

        return place(before.storage) == place(after.storage)

    def update(self, destination: ProgramDestination) -> bool:
        before = self.destination.storage
        if not super().update(destination):
            return False
        if self._storage != before and hasattr(self, "_bucket"):
            old, self._bucket = self._bucket, Bucket(self._storage, self._timeout_s)
            self._closing = asyncio.create_task(old.close_when_idle())
            self._recorder.segmenter.target_ms = self._storage.segment_duration_ms
            self._playlist.target_s = max(self._playlist.target_s, self._storage.segment_duration_ms / 1000)
            self._playlist.window = self._window
            self._recorder.spool.most_s = self._spool_s
            self.retry_now()
        return True

    # -- the way into the bucket ------------------------------------------------------------------

    async def session(self) -> None:
        if not self._taken_up:
            await self._take_up()
        stop = asyncio.create_task(self._stop.wait())
        try:
            while True:
                await self._store_waiting()
                if self._complete:
                    await self._end_early()
                    return
                if self._stop.is_set():
                    break
                ready = asyncio.create_task(self._recorder.ready.wait())
                await asyncio.wait({stop, ready}, return_when=asyncio.FIRST_COMPLETED)
                ready.cancel()
        finally:
            stop.cancel()

    @property
    def _complete(self) -> bool:
        """A recording has its longest duration."""
        limit_ms = self._storage.max_duration_ms
        return self._storage.vod and limit_ms > 0 and self._playlist.total_s * 1000 >= limit_ms

    async def _take_up(self) -> None:
        """Goes on from what another encoder of this run has stored, or begins."""
        await self._have_the_place()
        try:
            text = (await self._bucket.get(self._key(self._own_index)) or b"").decode(errors="replace")
        except NotReadable:
            # Credentials that may only write: a number that no encoder before us can have come to
            self._playlist.media_sequence = int(time.time())
            self._seam = True
            text = ""
        recording = "#EXT-X-PLAYLIST-TYPE:" in text
        if recording == self._storage.vod and await asyncio.to_thread(
            self._playlist.take_up, text, self._prefix
        ):
            self._seam = True
            names = [segment.name for segment in self._playlist.segments]
            self._stored = [*self._before(names), *names]
        elif not self._storage.vod and not recording:
            names = [name for name in named_segments(text) if SEGMENT_NAME.fullmatch(name)]
            self._old = [*self._before(names), *names]
        self._taken_up = True

    async def _have_the_place(self) -> None:
        """Waits for a predecessor to end.

        Raises:
            SessionError: another destination writes there.
        """
        if self._lock:
            return
        storage = self._storage
        place = (storage.endpoint, storage.region, storage.bucket, storage.prefix.strip("/"))
        lock = PLACES.setdefault(place, asyncio.Lock())
        try:
            async with asyncio.timeout(self.finish_s + 1):
                await lock.acquire()
        except TimeoutError:
            raise SessionError(
                f"another destination of this show writes to bucket {storage.bucket} under the same prefix",
                permanent=True,
            ) from None
        self._lock = lock

    def _before(self, names: list[str]) -> list[str]:
        """Segments that a sliding window keeps although it names them no more."""
        found = SEGMENT_NAME.fullmatch(names[0]) if names else None
        if found is None or self._storage.vod:
            return []
        first = int(found[2])
        kept = max(0, self._storage.file_count - len(names))
        return [f"{found[1]}{number:08}.ts" for number in range(max(0, first - kept), first)]

    async def _store_waiting(self) -> None:
        spool = self._recorder.spool
        self._recorder.ready.clear()
        while (waiting := spool.first) and not self._complete and not self._closing_now.is_set():
            self._count()
            try:
                data = await spool.data(waiting)
            except OSError as error:
                log("hls.segment-unreadable", id=self.state.id, error=str(error))
                spool.leave_out(waiting)
                continue
            await self._unless_closing(self._store(waiting.cut, data))
            spool.done(waiting)
            await self._tell_playlist(last=len(spool) == 0)
            self.connected()
        self._count()

    async def _unless_closing(self, storing: Coroutine[Any, Any, None]) -> None:
        """
        Raises:
            SessionError: it was broken off, as the time to end is nearly over.
        """
        task, closing = asyncio.ensure_future(storing), asyncio.ensure_future(self._closing_now.wait())
        try:
            await asyncio.wait({task, closing}, return_when=asyncio.FIRST_COMPLETED)
            if not task.done():
                raise SessionError("the end of the recording could not be stored in time")
            task.result()
        finally:
            for each in (task, closing):
                each.cancel()
            await asyncio.gather(task, closing, return_exceptions=True)

    async def finish(self) -> None:
        """What can't be stored in time is left out, so that the playlist is closed all the same."""
        timer = asyncio.get_running_loop().call_later(self.finish_s - CLOSING_S, self._closing_now.set)
        try:
            await super().finish()
        finally:
            timer.cancel()

    async def _store(self, cut: Cut, data: bytes | bytearray) -> None:
        name = f"{self._prefix}{self._playlist.next_sequence:08}.ts"
        await self._put(name, data, SEGMENT_TYPE, FOREVER)
        self.counters.sent_bytes += len(data)
        self.state = self.state.model_copy(update={"bytes_sent": self.counters.sent_bytes})
        self._playlist.add(Segment(name, cut.duration_s, cut.began, cut.discontinuity or self._seam))
        self._seam = False
        self._stored.append(name)

    async def _tell_playlist(self, *, last: bool) -> None:
        """Stores the playlist, then removes what it does not name any more.

        A recording's is stored ever less often as it grows, but always at its end.

        Args:
            last: no segment waits.
        """
        if self._storage.vod and not self._playlist.ended:
            rest_s = self._told_bytes / PLAYLIST_BYTES_PER_S
            if time.monotonic() < self._told_at + (rest_s if last else max(rest_s, BEHIND_PLAYLIST_S)):
                return
        text = str(self._playlist).encode()
        names = [self._own_index, INDEX] if self._storage.vod else [INDEX]
        for name in names:
            await self._put(name, text, PLAYLIST_TYPE, FRESH)
        self._told_at, self._told_bytes = time.monotonic(), len(text)
        if not self._storage.vod:
            try:
                await self._remove_old()
            except SessionError as error:
                # Media is delivered all the same
                log("hls.not-removed", id=self.state.id, error=str(error))

    async def _put(self, name: str, data: bytes | bytearray, content_type: str, cache_control: str) -> None:
        """Stores an object. What the storage recovers from within the time-out is not told of.

        Raises:
            SessionError: no progress for that long, or something that time does not mend.
        """
        began = time.monotonic()
        while True:
            try:
                await self._bucket.put(self._key(name), data, content_type, cache_control)
            except SessionError as lost:
                connected = self.state.connect is ConnectState.CONNECTED
                over = time.monotonic() + RETRY_S - began > self._timeout_s()
                if lost.permanent or over or not connected or self._stop.is_set():
                    raise
                log("hls.tried-again", id=self.state.id, error=str(lost))
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(self._stop.wait(), RETRY_S)
            else:
                return

    async def _remove_old(self) -> None:
        for names, kept in ((self._old, 0), (self._stored, self._storage.file_count)):
            for _ in range(min(len(names) - kept, REMOVED_AT_ONCE)):
                await self._bucket.delete(self._key(names[0]))
                names.pop(0)

    async def _end_properly(self) -> None:
        """Stores the rest and closes the playlist; goes on trying until the time for that is over."""
        self._fan_out.unsubscribe(self._recorder)
        await self._recorder.flush()
        while not self._playlist.ended:
            try:
                if not self._taken_up:
                    await self._take_up()
                await self._store_waiting()
                if not self._playlist.segments:
                    return
                self._playlist.ended = True
                await self._tell_playlist(last=True)
            except SessionError as error:
                self._playlist.ended = False
                log("hls.not-ended", id=self.state.id, error=str(error))
                await asyncio.sleep(RETRY_S)

    async def _end_early(self) -> None:
        """The recording is complete while the show goes on."""
        self._fan_out.unsubscribe(self._recorder)
        self._playlist.ended = True
        await self._tell_playlist(last=True)
        seconds = self._storage.max_duration_ms / 1000
        self.tell(ConnectState.DISCONNECTED, f"the recording has its longest duration of {seconds:g} s")
        await self._stop.wait()

    def _count(self) -> None:
        spool = self._recorder.spool
        self.counters.queued_bytes = spool.bytes
        self.counters.dropped = spool.dropped_packets

    # -- names ------------------------------------------------------------------------------------

    @property
    def _prefix(self) -> str:
        """What segments of this run begin with: those of another are never taken for them.

        A recording's are none of a window, and have names that are never removed.
        """
        return f"{self.broadcast}_rec-" if self._storage.vod else f"{self.broadcast}-"

    @property
    def _own_index(self) -> str:
        """A recording keeps a playlist of its own; the next run's does not replace it."""
        return f"{self.broadcast}.m3u8" if self._storage.vod else INDEX

    def _key(self, name: str) -> str:
        prefix = self._storage.prefix.strip("/")
        return f"{prefix}/{name}" if prefix else name
