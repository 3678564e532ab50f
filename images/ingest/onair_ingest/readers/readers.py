"""Streams that are read: each is played once for all of its readers, and only while there are some."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Callable

import structlog

from onair_crds.contract.access_units import CLOSE_ENDED, CLOSE_UNSUPPORTED, UnitKind
from onair_crds.rtmp.chunks import RtmpMessage
from onair_ingest.mediamtx.rtmp_player import MediaServer, PlayError, RtmpPlayer
from onair_ingest.readers.demux import Demuxer
from onair_ingest.readers.play_progress import LOOK_S, PlayProgress
from onair_ingest.readers.stream_feed import FeedEnded, ReaderQueue, StreamFeed

log = structlog.get_logger()

AGAIN_S = 0.4
"""From the end of a stream until it is known whether it is published on."""
REFUSED_S = 1.0
"""Readers of a stream that the server has, and does not play, come back at once."""


class NoStream(Exception):
    """No such stream is published here."""


class Undecodable(NoStream):
    """The stream is published here, and a page can decode none of it; the text says why."""


class _Played:
    """One stream, from its first reader until some seconds after its last."""

    def __init__(
        self,
        stream: str,
        path_of: Callable[[str], str | None],
        undecodable: Callable[[str], str | None],
        inbound_bytes: Callable[[str], int | None],
        server: MediaServer,
        linger_s: float,
    ) -> None:
        self.stream, self.feed = stream, StreamFeed()
        self._path_of, self._undecodable, self._inbound_bytes = path_of, undecodable, inbound_bytes
        self._server, self._linger_s = server, linger_s
        self._demuxer = Demuxer()
        self._messages, self._has_media = 0, False
        self._idle: asyncio.TimerHandle | None = None
        self.task = asyncio.create_task(self._play())

    async def _play(self) -> None:
        reason, code, is_played = "the stream ended", CLOSE_ENDED, False
        try:
            while path := self._path_of(self.stream):
                if undecodable := self._undecodable(self.stream):  # whoever publishes it now
                    reason, code = undecodable, CLOSE_UNSUPPORTED
                    break
                try:
                    await self._play_once(path)
                except PlayError as error:
                    reason = str(error)
                is_played = is_played or bool(self._messages)
                if not self._messages:
                    await asyncio.sleep(0 if is_played else REFUSED_S)
                    break
                # The server ends readers of a stream whose times go back, and the stream continues.
                await asyncio.sleep(AGAIN_S)
                self._demuxer.restart()
        finally:
            if self._demuxer.unsupported and self.feed.empty:
                reason, code = "; ".join(self._demuxer.unsupported.values()), CLOSE_UNSUPPORTED
            log.info("reader.ended", stream=self.stream, reason=reason, damaged=self._demuxer.damaged)
            self.feed.end(FeedEnded(code, reason))

    async def _play_once(self, path: str) -> None:
        """
        Raises:
            PlayError: also if no more arrives of a stream that flows, as over a connection that was cut.
        """
        self._messages, self._has_media = 0, False
        try:
            async with asyncio.timeout(None) as limit:
                watching = asyncio.create_task(self._end_when_stalled(limit))
                try:
                    await RtmpPlayer(self._server, path).play(self._take)
                finally:
                    watching.cancel()
        except TimeoutError as error:
            raise PlayError("the media server plays nothing of the stream") from error

    async def _end_when_stalled(self, limit: asyncio.Timeout) -> None:
        progress = PlayProgress()
        while True:
            inbound_bytes = self._inbound_bytes(self.stream)
            if progress.is_stalled(inbound_bytes, self._messages, has_media=self._has_media):
                log.warning("reader.stalled", stream=self.stream)
                limit.reschedule(asyncio.get_running_loop().time())
                return
            await asyncio.sleep(LOOK_S)

    def _take(self, message: RtmpMessage) -> None:
        self._messages += 1
        for record in self._demuxer.records(message, time.monotonic()):
            self._has_media = self._has_media or record.kind in (UnitKind.VIDEO, UnitKind.AUDIO)
            self.feed.put(record)

    def subscribe(self) -> ReaderQueue:
        if self._idle:
            self._idle.cancel()
            self._idle = None
        return self.feed.subscribe()

    def unsubscribe(self, subscription: ReaderQueue) -> None:
        self.feed.unsubscribe(subscription)
        if not self.feed.readers and not self.task.done():
            self._idle = asyncio.get_running_loop().call_later(self._linger_s, self.task.cancel)


class Readers:
    """Plays streams from the media server while somebody reads them."""

    def __init__(
        self,
        path_of: Callable[[str], str | None],
        undecodable: Callable[[str], str | None],
        inbound_bytes: Callable[[str], int | None],
        server: MediaServer,
        linger_s: float,
    ) -> None:
        """
        Args:
            path_of: a stream's path in the media server, while it is published there; it may hold a key.
            undecodable: why no page can decode a stream that is published; None if one can.
            inbound_bytes: how much of a stream the media server has received; None if that is not known.
            linger_s: how long a stream is played on after its last reader.
        """
        self.undecodable = undecodable
        self._path_of, self._inbound_bytes = path_of, inbound_bytes
        self._server, self._linger_s = server, linger_s
        self._played: dict[str, _Played] = {}

    @property
    def played(self) -> dict[str, int]:
        """The streams that are played now, with the number of their readers."""
        return {stream: played.feed.readers for stream, played in self._played.items()}

    @contextlib.asynccontextmanager
    async def subscription(self, stream: str) -> AsyncIterator[ReaderQueue]:
        """A reader of a stream, for as long as the context lasts.

        Raises:
            NoStream: it is not published here.
            Undecodable: it is, and a page can decode none of it.
        """
        played = self._play(stream)
        subscription = played.subscribe()
        try:
            yield subscription
        finally:
            played.unsubscribe(subscription)

    def _play(self, stream: str) -> _Played:
        played = self._played.get(stream)
        if played is None or played.task.done():
            if self._path_of(stream) is None:
                raise NoStream(stream)
            if reason := self.undecodable(stream):
                raise Undecodable(reason)
            played = _Played(
                stream, self._path_of, self.undecodable, self._inbound_bytes, self._server, self._linger_s
            )
            self._played[stream] = played
            played.task.add_done_callback(lambda _: self._forget(stream, played))
        return played

    def _forget(self, stream: str, played: _Played) -> None:
        if self._played.get(stream) is played:
            del self._played[stream]

    async def close(self) -> None:
        tasks = [played.task for played in self._played.values()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
