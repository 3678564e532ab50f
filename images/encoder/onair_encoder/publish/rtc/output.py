"""Delivers into a room of a provider of real-time communication, by a process of its own."""

from __future__ import annotations

import asyncio
import contextlib
import sys
import time

from onair_crds.contract.program import ProgramDestination, ProgramRtc
from onair_crds.resources.enums import ConnectState
from onair_encoder.media.flv import AUDIO, SCRIPT, VIDEO, Packet
from onair_encoder.publish.publisher import Publisher
from onair_encoder.publish.rtc.livekit_errors import server_of
from onair_encoder.publish.rtc.pipe import (
    Gone,
    Message,
    Progress,
    message_of,
    packet_message,
    settings_message,
)
from onair_encoder.publish.rtc.video_flow import Rejoining
from onair_encoder.publish.session_error import SessionError

JOIN_TIMEOUT_S = 10.0
LEAVE_TIMEOUT_S = 2.5
LEAST_TIMEOUT_S = 1.0
"""A server's answers come some ten times a second, and at times fewer."""
PUBLISH_S = 6.0
"""While a picture is published, first or anew, nothing is sent, and so nothing is answered."""
HELD_S = 4.0
"""It takes 3 s at most to publish a picture of another rate anew, and 1 s to see that it flows."""
ONLY_SOUND_TIMEOUT_S = 3.0
"""Without a picture answers are few."""
MAX_UNSENT_BYTES = 4 * 2**20


class RtcPublisher(Publisher):
    _rejoining: Rejoining | None = None
    """Outlives sessions."""

    def same_session(self, before: ProgramDestination, after: ProgramDestination) -> bool:
        """A token admits when a session begins; another one is taken for the next."""
        if before.rtc and after.rtc:
            after = after.model_copy(update={"rtc": after.rtc.model_copy(update={"token": before.rtc.token})})
        return super().same_session(before, after)

    async def session(self) -> None:
        rtc = self.destination.rtc
        if rtc is None:
            raise SessionError("no room is named", permanent=True)
        process = await RoomProcess.start(rtc)
        feed = PipeFeed(process)
        try:
            await self._join(process, rtc)
            feed.begin(self._fan_out.subscribe(feed))
            await self._watch(process, feed, server_of(rtc.url))
            self._fan_out.unsubscribe(feed)
            await process.finish()
        finally:
            self._fan_out.unsubscribe(feed)
            self.counters.queued_bytes = 0
            process.kill()
            await process.ended()

    async def _join(self, process: RoomProcess, rtc: ProgramRtc) -> None:
        try:
            message = await asyncio.wait_for(self._next(process), JOIN_TIMEOUT_S)
        except TimeoutError:
            raise SessionError(f"no answer from {server_of(rtc.url)}") from None
        if isinstance(message, Gone):
            raise SessionError(message.why, permanent=message.permanent)

    async def _next(self, process: RoomProcess) -> Message | None:
        """What the process says next; None when told to stop before."""
        stop = asyncio.create_task(self._stop.wait())
        message = asyncio.create_task(process.message())
        try:
            await asyncio.wait({stop, message}, return_when=asyncio.FIRST_COMPLETED)
            return message.result() if message.done() else None
        finally:
            stop.cancel()
            message.cancel()

    async def _watch(self, process: RoomProcess, feed: PipeFeed, server: str) -> None:
        """Looks at progress until told to stop.

        Raises:
            SessionError: the session has ended, or the server answered nothing for longer than the time-out.
        """
        last, flowing_since, moved_at, written = Progress(), -1, time.monotonic(), 0
        rejoining = self._rejoining = self._rejoining or Rejoining()
        too_narrow = f"the line to {server} is too narrow: only the sound of the programme gets through"
        while not self._stop.is_set():
            least_s = ONLY_SOUND_TIMEOUT_S if last.held_s else LEAST_TIMEOUT_S
            if flowing_since < 0:
                least_s = PUBLISH_S
            limit_s = max(self.destination.timeout_ms / 1000, 3 * last.round_trip_ms / 1000, least_s)
            try:
                message = await asyncio.wait_for(
                    self._next(process), max(0.05, moved_at + limit_s - time.monotonic())
                )
            except TimeoutError:
                message = Progress()
            if isinstance(message, Gone):
                raise SessionError(message.why, permanent=message.permanent)
            if not isinstance(message, Progress):
                continue
            self._count(last, message, feed)
            if message.answers > last.answers or feed.written == written:
                moved_at, written = time.monotonic(), feed.written
            if message.video_bytes and flowing_since < 0:
                flowing_since = message.answers
            if rejoining.due(time.monotonic(), message.held_s):
                raise SessionError(too_narrow)
            if message.held_s > max(limit_s, HELD_S) and flowing_since >= 0:
                self.tell(ConnectState.DISCONNECTED, too_narrow)
            elif message.answers > flowing_since >= 0 and not message.held_s:
                self.connected()
            if message.answers:
                last = message
            now = time.monotonic()
            if now - moved_at > limit_s and now - feed.announced_at > PUBLISH_S:
                raise SessionError(f"stalled: {server} answered nothing for {limit_s * 1000:.0f} ms")

    def _count(self, last: Progress, progress: Progress, feed: PipeFeed) -> None:
        sent = max(0, progress.sent_bytes - last.sent_bytes)
        left_out = max(0, progress.pictures_left_out - last.pictures_left_out)
        self.counters.sent_bytes += sent
        self.counters.dropped += feed.take_dropped() + left_out
        self.counters.queued_bytes = feed.unsent
        self.state = self.state.model_copy(update={"bytes_sent": self.state.bytes_sent + sent})


class RoomProcess:
    """The child, as the agent sees it. Its errors are in its messages: its other output may hold a token."""

    def __init__(
        self, process: asyncio.subprocess.Process, stdin: asyncio.StreamWriter, stdout: asyncio.StreamReader
    ) -> None:
        self._process, self._stdin, self._stdout = process, stdin, stdout

    @classmethod
    async def start(cls, rtc: ProgramRtc) -> RoomProcess:
        child = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "onair_encoder", "rtc"),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
        )
        if not (child.stdin and child.stdout):
            raise SessionError("internal error (no pipe)")
        process = cls(child, child.stdin, child.stdout)
        process.write(settings_message(rtc))
        return process

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def unsent(self) -> int:
        return self._stdin.transport.get_write_buffer_size()

    def write(self, data: bytes) -> None:
        if not self._stdin.transport.is_closing():
            self._stdin.write(data)

    async def message(self) -> Message:
        """What it says next; that it is gone, once it has ended."""
        while line := await self._stdout.readline():
            with contextlib.suppress(ValueError):
                return message_of(line)
        code = await self._process.wait()
        return Gone(f"the publishing process ended ({f'signal {-code}' if code < 0 else f'exit {code}'})")

    async def finish(self) -> None:
        """Asks for a proper end and waits for it."""
        self._stdin.close()
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._process.wait(), LEAVE_TIMEOUT_S)

    async def ended(self) -> None:
        await self._process.wait()

    def kill(self) -> None:
        if not self._stdin.transport.is_closing():
            self._stdin.transport.abort()
        with contextlib.suppress(ProcessLookupError):
            self._process.kill()


class PipeFeed:
    """Writes packets to the process; where that is slow, drops up to the next key frame.

    A session begins with the newest key frame and goes on with the next one: what lies
    between is no longer live, and viewers join on a key frame anyway.
    """

    def __init__(self, process: RoomProcess) -> None:
        self._process = process
        self._waiting = True
        """For a key frame."""
        self._slow = False
        self._dropped = 0
        self.written = 0
        """Packets."""
        self.announced_at = 0.0
        """When the picture became another one; monotonic seconds."""

    @property
    def unsent(self) -> int:
        return self._process.unsent

    def take_dropped(self) -> int:
        """Packets that were dropped since it was asked last."""
        dropped, self._dropped = self._dropped, 0
        return dropped

    def begin(self, first: list[Packet]) -> None:
        """Sends headers and the key frame of what a late subscriber is given."""
        for packet in first:
            if packet.header or packet.keyframe or packet.type not in (VIDEO, AUDIO):
                self._write(packet)

    def packet(self, packet: Packet) -> None:
        if packet.type == SCRIPT:
            self.announced_at = time.monotonic()
        if packet.type == VIDEO and not packet.header:
            if packet.keyframe:
                self._waiting = self._slow = self._process.unsent > MAX_UNSENT_BYTES // 4
            elif self._process.unsent > MAX_UNSENT_BYTES:
                self._waiting = self._slow = True
            if self._waiting:
                self._dropped += self._slow
                return
        elif self._process.unsent > MAX_UNSENT_BYTES and not packet.header:
            self._dropped += 1
            return
        self._write(packet)

    def _write(self, packet: Packet) -> None:
        self._process.write(packet_message(packet))
        self.written += 1
