"""A session in a room, as the agent supplies and watches it."""

from __future__ import annotations

import asyncio
import time

from onair_crds.room_publisher.pipe import Gone, Message, SessionProgress
from onair_crds.room_publisher.room_client import RoomClient
from onair_crds.room_publisher.room_feed import RoomFeed
from onair_crds.room_publisher.video_flow import Rejoining
from onair_crds.session_error import SessionError
from onair_encoder.publish.stillness import Stillness
from onair_encoder.publish.supplied_destination import SuppliedDestination

LOOK_S = 0.5
"""Twice as long as the process takes from one report to the next."""
SILENT_S = 5.0
"""On a busy machine the process itself may be late, which says nothing of the server."""
LEAST_TIMEOUT_S = 1.0
"""A server's responses come some ten times a second, and at times fewer."""
PUBLISH_S = 6.0
"""While video is published, at first or again, nothing is sent, and so nothing is acknowledged."""
HELD_S = 4.0
"""It takes 3 s at most to republish video at another bitrate, and 1 s to see that it flows."""
AUDIO_ONLY_TIMEOUT_S = 3.0
"""Without video responses are few."""


class RtcSession:
    def __init__(
        self, destination: SuppliedDestination, client: RoomClient, rejoining: Rejoining, server: str
    ) -> None:
        """
        Args:
            server: `host:port`, for errors.
        """
        self._destination = destination
        self._client = client
        self._feed = RoomFeed(client)
        self._rejoining = rejoining
        self._server = server

    async def run(self) -> None:
        fan_out = self._destination.fan_out
        self._feed.begin(fan_out.subscribe(self._feed))
        await self._watch()
        fan_out.unsubscribe(self._feed)
        await self._client.finish()

    async def close(self) -> None:
        self._destination.fan_out.unsubscribe(self._feed)
        self._destination.counters.queued_bytes = 0
        await self._client.close()

    async def _next(self) -> Message | None:
        """The next message of the process; None if none came in time, or it was stopped first."""
        stopped = asyncio.create_task(self._destination.stop.wait())
        message = asyncio.create_task(self._client.message())
        try:
            await asyncio.wait({stopped, message}, timeout=LOOK_S, return_when=asyncio.FIRST_COMPLETED)
            return message.result() if message.done() else None
        finally:
            stopped.cancel()
            message.cancel()

    async def _watch(self) -> None:
        """Watches progress until stopped.

        Raises:
            SessionError: the session has ended, or nothing came back for longer than the timeout.
        """
        destination, feed = self._destination, self._feed
        last, flowing_since, written = SessionProgress(), -1, 0
        began = time.monotonic()
        server_still, process_still = Stillness(LOOK_S, began), Stillness(LOOK_S, began)
        too_slow = f"the bandwidth to {self._server} is too low: only the audio of the programme gets through"
        while not destination.stop.is_set():
            least_s = AUDIO_ONLY_TIMEOUT_S if last.held_s else LEAST_TIMEOUT_S
            if flowing_since < 0:
                least_s = PUBLISH_S
            limit_s = max(destination.timeout_s, 3 * last.round_trip_ms / 1000, least_s)
            message = await self._next()
            now = time.monotonic()
            if process_still.look(now, progress=message is not None) > max(limit_s, SILENT_S):
                raise SessionError("the publishing process does not respond")
            if isinstance(message, Gone):
                raise message.error
            if not isinstance(message, SessionProgress):
                continue
            self._count(last, message)
            if message.video_bytes and flowing_since < 0:
                flowing_since = message.responses
            if self._rejoining.due(now, message.held_s):
                raise SessionError(too_slow)
            if message.held_s > max(limit_s, HELD_S) and flowing_since >= 0:
                destination.disconnected(too_slow)
            elif message.responses > flowing_since >= 0 and not message.held_s:
                destination.connected()
            progress = message.responses > last.responses or feed.written == written
            if progress:
                written = feed.written
            if message.responses:
                last = message
            still_s = server_still.look(now, progress=progress)
            if still_s > limit_s and now - feed.announced_at > PUBLISH_S:
                raise SessionError(f"stalled: {self._server} sent nothing back for {limit_s * 1000:.0f} ms")

    def _count(self, last: SessionProgress, progress: SessionProgress) -> None:
        sent = max(0, progress.sent_bytes - last.sent_bytes)
        dropped = max(0, progress.frames_dropped - last.frames_dropped)
        counters = self._destination.counters
        counters.sent_bytes += sent
        counters.dropped += self._feed.take_dropped() + dropped
        counters.queued_bytes = self._client.unsent
        self._destination.sent(sent)
