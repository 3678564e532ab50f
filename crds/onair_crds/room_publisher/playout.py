"""Brings packets into the forms that a room takes, and hands them over at their times."""

from __future__ import annotations

import asyncio
import itertools
import time

from onair_crds.media.flv import AUDIO, SCRIPT, VIDEO, Packet
from onair_crds.media.h264 import access_unit, parameter_sets
from onair_crds.media.stream_metadata import VideoFormat, video_format
from onair_crds.room_publisher.audio import AudioDecoder
from onair_crds.room_publisher.clock import HOLD_US, ProgramClock, Steps
from onair_crds.room_publisher.room_providers import Frame, RoomSession

CHUNK_US = 10_000
STILL_US = 100_000
LATE_AUDIO_US = 300_000
"""Audio that waited for so long is dropped, or the room would hear it late from then on."""


class Playout:
    def __init__(self, room: RoomSession) -> None:
        self._room = room
        self._clock = ProgramClock()
        self._steps = Steps(CHUNK_US)
        self._audio = AudioDecoder()
        self._sets = b""
        self._format: VideoFormat | None = None
        self._skipping = True
        """Up to the next key frame."""
        self._still: Frame | None = None
        """The first key frame, until the video moves on from the next one."""
        self._still_at_us = 0
        self._began = False
        self._due: asyncio.PriorityQueue[tuple[int, int, Frame | bytes]] = asyncio.PriorityQueue()
        self._count = itertools.count()
        self.frames = 0
        """Count of those that were due."""
        self.flowing = False
        """Whether frames are known to have left."""

    async def take(self, packet: Packet) -> None:
        """Takes a packet, and publishes what it begins.

        Raises:
            SessionError: the room does not take the programme.
        """
        now_us = time.monotonic_ns() // 1000
        if packet.type == SCRIPT:
            self._format = video_format(packet) or self._format
            if self._format:
                await self._room.publish(self._format)
        elif packet.type == VIDEO and packet.header:
            self._sets = parameter_sets(packet)
        elif packet.type == VIDEO and self._format:
            self._take_frame(packet, self._format, now_us)
        elif packet.type == AUDIO:
            late_us = 0 if packet.header else self._clock.arrived(packet.timestamp_ms, now_us)
            for number, chunk in enumerate(self._audio.pcm(packet)):
                wanted_us = self._clock.due_us(packet.timestamp_ms, now_us) + number * CHUNK_US
                if late_us < LATE_AUDIO_US:
                    self._put(self._steps.next_us(wanted_us), chunk)

    def _take_frame(self, packet: Packet, video: VideoFormat, now_us: int) -> None:
        data = access_unit(packet, self._sets)
        if not data:
            return
        if self._began:
            self._still = None if packet.keyframe else self._still
            frame = Frame(data, packet.keyframe, video.width, video.height)
            self._put(self._clock.due_us(packet.timestamp_ms, now_us), frame)
        elif packet.keyframe:
            self._began = True
            self._still = Frame(data, True, video.width, video.height)

    def _put(self, due_us: int, what: Frame | bytes) -> None:
        self._due.put_nowait((due_us, next(self._count), what))

    async def play(self) -> None:
        """Hands over what is due, until cancelled."""
        last_us = 0
        while True:
            due_us, _, what = await self._due.get()
            wait_us = due_us - time.monotonic_ns() // 1000
            if wait_us > 0:
                await asyncio.sleep(wait_us / 1e6)
            now_us = time.monotonic_ns() // 1000
            if isinstance(what, bytes):
                await self._room.audio(what)
                self._repeat_still(now_us)
                continue
            self.frames += 1
            self._skipping = self._skipping and not what.keyframe
            if not self._skipping:
                # The library drops frames of the future and those that are not in order.
                last_us = max(last_us + 1000, min(now_us, due_us))
                self._skipping = not self._room.video(what, last_us)

    def _repeat_still(self, now_us: int) -> None:
        """Shows those who join before the video moves on the frame that it begins with.

        Later their request for a key frame is met by the next one: the encode is everybody's.
        """
        if not self._still or now_us - self._still_at_us < STILL_US:
            return
        # A frame that comes before the route is open is taken and goes nowhere.
        if self._room.wants_keyframe() or not self.flowing:
            self._still_at_us = now_us
            self._room.video(self._still, now_us - HOLD_US)
