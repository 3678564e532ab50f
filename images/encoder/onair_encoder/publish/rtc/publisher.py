"""Delivers into a room of a provider of real-time communication, by a process of its own."""

from __future__ import annotations

import asyncio
import contextlib
import sys
import time

from onair_crds.enums import ConnectState
from onair_crds.program import ProgramDestination, ProgramRtc
from onair_encoder.flv import AUDIO, SCRIPT, VIDEO, Packet
from onair_encoder.publish.publisher import Publisher
from onair_encoder.publish.rtc.livekit_words import server_of
from onair_encoder.publish.rtc.pipe import (
    Gone,
    Message,
    Progress,
    message_of,
    packet_message,
    settings_message,
)
from onair_encoder.publish.words import Lost

JOIN_TIMEOUT_S = 10.0
LEAVE_TIMEOUT_S = 2.5
LEAST_TIMEOUT_S = 1.0
"""A server's answers come some ten times a second, and at times fewer."""
PUBLISH_S = 6.0
"""While a picture is published anew nothing is sent, and so nothing is answered."""
HELD_S = 3.0
"""It takes so long at most to publish a picture of another rate anew; then it is the line."""
PAUSE_S, STEADY_S = 1.0, 2.0
"""A picture that stands for so long is held back; one that flows again for so long is there."""
ON_THEIR_WAY = 10
MAX_UNSENT_BYTES = 4 * 2**20


class RtcPublisher(Publisher):
    def same_session(self, before: ProgramDestination, after: ProgramDestination) -> bool:
        """A token admits when a session begins; another one is taken for the next."""
        if before.rtc and after.rtc:
            after = after.model_copy(update={"rtc": after.rtc.model_copy(update={"token": before.rtc.token})})
        return super().same_session(before, after)

    async def session(self) -> None:
        rtc = self.destination.rtc
        if rtc is None:
            raise Lost("no room is named", permanent=True)
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
            raise Lost(f"no answer from {server_of(rtc.url)}") from None
        if isinstance(message, Gone):
            raise Lost(message.why, permanent=message.permanent)

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
            Lost: the session has ended, or the server answered nothing for longer than the time-out.
        """
        last, flowing_since, moved_at, written = Progress(), -1, time.monotonic(), 0
        flow = PictureFlow()
        while not self._stop.is_set():
            limit_s = max(self.destination.timeout_ms, 3 * last.round_trip_ms, LEAST_TIMEOUT_S * 1000) / 1000
            try:
                message = await asyncio.wait_for(
                    self._next(process), max(0.05, moved_at + limit_s - time.monotonic())
                )
            except TimeoutError:
                message = Progress()
            if isinstance(message, Gone):
                raise Lost(message.why, permanent=message.permanent)
            if not isinstance(message, Progress):
                continue
            self._count(last, message, feed, flow)
            if message.answers > last.answers or feed.written == written:
                moved_at, written = time.monotonic(), feed.written
            if message.video_bytes and flowing_since < 0:
                flowing_since = message.answers
            held_s = flow.held_s(message, time.monotonic())
            if held_s > max(limit_s, HELD_S) and flowing_since >= 0:
                self.tell(
                    ConnectState.DISCONNECTED,
                    f"the line to {server} is too narrow: only the sound of the programme gets through",
                )
            elif message.answers > flowing_since >= 0 and not held_s:
                self.connected()
            if message.answers:
                last = message
            now = time.monotonic()
            if now - moved_at > limit_s and now - feed.announced_at > PUBLISH_S:
                raise Lost(f"stalled: {server} answered nothing for {limit_s * 1000:.0f} ms")

    def _count(self, last: Progress, progress: Progress, feed: PipeFeed, flow: PictureFlow) -> None:
        sent = max(0, progress.sent_bytes - last.sent_bytes)
        self.counters.sent_bytes += sent
        self.counters.dropped += feed.take_dropped() + flow.left_out(progress)
        self.counters.queued_bytes = feed.unsent
        self.state = self.state.model_copy(update={"bytes_sent": self.state.bytes_sent + sent})


class PictureFlow:
    """Whether pictures leave. On a narrow line WebRTC lets the sound through and holds the picture back."""

    def __init__(self) -> None:
        self._sent = self._wanted = self._left_out = 0
        self._moved_at: float | None = None
        self._steady_since = 0.0
        self._held = False

    def held_s(self, progress: Progress, now: float) -> float:
        """For how long no picture has left; 0 where they flow, or where there are none to be sent.

        Args:
            progress: what is known of the session; totals of 0 where nothing is.
            now: seconds of a monotonic clock.
        """
        if self._moved_at is None or progress.pictures_sent > self._sent:
            if self._moved_at is None or now - self._moved_at > PAUSE_S:
                self._steady_since = now
            self._moved_at = now
        elif progress.pictures and progress.pictures == self._wanted:
            self._moved_at = now
        self._sent = max(self._sent, progress.pictures_sent)
        self._wanted = max(self._wanted, progress.pictures)
        still_s = now - self._moved_at
        if still_s > PAUSE_S:
            self._held = True
        elif now - self._steady_since >= STEADY_S:
            self._held = False
        return max(still_s, PAUSE_S / 1000) if self._held else 0.0

    def left_out(self, progress: Progress) -> int:
        """Pictures that were given up since it was asked last; some are on their way and do not count."""
        missing = progress.pictures - progress.pictures_sent
        if missing < self._left_out + ON_THEIR_WAY:
            return 0
        given_up, self._left_out = missing - self._left_out, missing
        return given_up


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
            raise Lost("internal error (no pipe)")
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
