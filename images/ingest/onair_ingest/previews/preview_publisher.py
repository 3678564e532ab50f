"""One preview: a participant of a room, by a process of its own, for as long as its stream flows."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable
from contextlib import suppress

import structlog

from onair_crds.contract.ingest_gateway import Video
from onair_crds.contract.program import ProgramRtc
from onair_crds.room_publisher.pipe import Gone, Message
from onair_crds.room_publisher.room_client import RoomClient
from onair_crds.room_publisher.room_feed import RoomFeed
from onair_crds.runtime.to_its_end import to_its_end
from onair_crds.session_error import SessionError
from onair_ingest.previews.turns import Turns
from onair_ingest.readers.packets import announcement, packet_of
from onair_ingest.readers.readers import NoStream, Readers
from onair_ingest.readers.stream_feed import FeedEnded, ReaderQueue

log = structlog.get_logger()

JOIN_TIMEOUT_S = 20.0
"""From the start of its process, which takes a second or two of CPU time first."""
SILENT_S = 6.0
"""The process reports four times a second; on a busy machine it may be late."""
LAST_LOOK_S = 0.5
"""What came while this process itself stood still is there by then."""
STALLED_S = 8.0
"""Nothing comes back from the room server for so long."""
FIRST_S = 25.0
"""Nothing does before the first key frame, and encoders send those up to 10 s apart."""
LOOK_S = 0.5
NO_STREAM_S = 0.25
FIRST_PAUSE_S, LONGEST_PAUSE_S = 0.5, 10.0
SHORT_S = 10.0
"""A session that fails earlier is likely to do so again, as with video that cannot be decoded: each takes a
second or two of CPU time."""


class PreviewPublisher:
    """Publishes from `run` until that is cancelled."""

    def __init__(
        self,
        stream: str,
        settings: ProgramRtc,
        readers: Readers,
        turns: Turns,
        video_of: Callable[[str], Video | None],
    ) -> None:
        """
        Args:
            settings: the room. Another token may be put in at any time, for the next session.
            video_of: what is known of a stream's video.
        """
        self.stream, self.settings = stream, settings
        self.joined = False
        self._joined_s = 0.0
        self.removed = False
        """By the room: it was in, and was refused for good since."""
        self._readers, self._video_of = readers, video_of
        self._turns = turns
        self._is_fed = False
        """Whether the stream had media in this session."""

    async def run(self) -> None:
        """Publishes again and again; ends by itself once it was refused for good, as when it was removed."""
        pause_s = FIRST_PAUSE_S
        while True:
            try:
                self._is_fed = False
                async with self._turns.turn(), self._readers.subscription(self.stream) as subscription:
                    await self._publish(subscription)
                if self._is_fed:
                    pause_s = FIRST_PAUSE_S
                else:  # such as what the server does not play: a session is much work for nothing
                    self.joined = False
                    pause_s = await _paused(pause_s)
            except NoStream:
                await asyncio.sleep(NO_STREAM_S)
            except Exception as failure:  # noqa: BLE001 - nobody else begins the next session
                error = _session_error(failure)
                log.warning(
                    "preview.failed", room=self.settings.room, source=self.settings.identity, error=str(error)
                )
                self.removed = self.joined and error.permanent
                if error.permanent or error.displaced:
                    return
                ran_s = asyncio.get_running_loop().time() - self._joined_s
                ran = self.joined and error is failure and ran_s > SHORT_S
                self.joined = False
                pause_s = await _paused(FIRST_PAUSE_S / 2 if ran else pause_s)
            finally:
                self.joined = False

    async def _publish(self, subscription: ReaderQueue) -> None:
        """One session, until the stream ends.

        Raises:
            SessionError: the room was not to be joined, or the session has ended.
        """
        client = await self._join()
        tasks: list[asyncio.Task[None]] = []
        try:
            self.joined, self._joined_s = True, asyncio.get_running_loop().time()
            log.info("preview.joined", room=self.settings.room, source=self.settings.identity)
            feed = RoomFeed(client)
            feed.packet(announcement(self._video_of(self.stream)))
            tasks = [asyncio.create_task(self._feed(feed, subscription)), asyncio.create_task(_watch(client))]
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            for each in done:
                each.result()
        finally:
            for each in tasks:
                each.cancel()
            try:
                await asyncio.gather(*tasks, return_exceptions=True)
            finally:  # also of who is cancelled while the stream is ending
                await to_its_end(_end(client))
                log.info("preview.ended", room=self.settings.room, source=self.settings.identity)

    async def _feed(self, feed: RoomFeed, subscription: ReaderQueue) -> None:
        try:
            while True:
                feed.packet(packet_of(await subscription.next_record()))
                self._is_fed = True
        except FeedEnded:
            return

    async def _join(self) -> RoomClient:
        """A client that has joined.

        Raises:
            SessionError: the room was not to be joined.
        """
        async with self._turns.joining:
            client = await RoomClient.start(self.settings, preview=True)
            try:
                await _joined(client)
            except BaseException:
                await to_its_end(_end(client))
                raise
            return client


async def _paused(pause_s: float) -> float:
    """Waits twice as long as the last time; gives how long that is at most."""
    pause_s = min(2 * pause_s, LONGEST_PAUSE_S)
    await asyncio.sleep(random.uniform(pause_s / 2, pause_s))  # noqa: S311 - spreads load
    return pause_s


def _session_error(failure: Exception) -> SessionError:
    """Why a session failed; of an unexpected error only the type, as its text may hold the token."""
    if isinstance(failure, SessionError):
        return failure
    return SessionError(f"internal error ({type(failure).__name__})")


async def _end(client: RoomClient) -> None:
    """One that is killed before it has left stays in the room for a quarter of a minute."""
    try:
        await client.finish()
    finally:
        await client.close()


async def _joined(client: RoomClient) -> None:
    try:
        async with asyncio.timeout(JOIN_TIMEOUT_S):
            message = await client.message()
    except TimeoutError:
        raise SessionError("no response from the room server") from None
    if isinstance(message, Gone):
        raise message.error


async def _watch(client: RoomClient) -> None:
    """
    Raises:
        SessionError: the session has ended, or nothing comes back any more.
    """
    loop = asyncio.get_running_loop()
    responses, heard_s = 0, loop.time()
    while True:
        message = await _next_message(client)
        if isinstance(message, Gone):
            raise message.error
        now_s = loop.time()
        found = getattr(message, "responses", 0)
        if found and found != responses:  # fewer: the library has resumed the session, and counts from 0
            responses, heard_s = found, now_s
        elif now_s - heard_s > (STALLED_S if responses else FIRST_S):
            raise SessionError("the room server sends nothing back")


async def _next_message(client: RoomClient) -> Message:
    """
    Raises:
        SessionError: nothing has come for SILENT_S.
    """
    for timeout_s in (SILENT_S, LAST_LOOK_S):
        with suppress(TimeoutError):
            async with asyncio.timeout(timeout_s):
                return await client.message()
    raise SessionError("the publishing process does not respond")
