"""The process of one room, `python -m onair_encoder rtc`: packets in by a pipe, the programme to the room.

A process of its own, as a native library that fails must not take the agent down.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import os
import sys
import time
from dataclasses import replace
from typing import Any

from onair_encoder.media.flv import AUDIO, SCRIPT, VIDEO, Packet
from onair_encoder.publish.rtc.clock import HOLD_US, ProgramClock, Steps
from onair_encoder.publish.rtc.media import Shape, Sound, access_unit, parameter_sets, shape_of
from onair_encoder.publish.rtc.pipe import Gone, Joined, Message, line_of, read_packets, read_settings
from onair_encoder.publish.rtc.room import Frame, Picture, Room, room_of
from onair_encoder.publish.rtc.video_flow import PictureFlow
from onair_encoder.publish.session_error import SessionError

FIRST_PROGRESS_S, PROGRESS_S = 0.05, 0.25
CHUNK_US = 10_000
STILL_US = 100_000
LATE_SOUND_US = 300_000
"""Sound that waited for so long is left out, or the room would hear it late from then on."""
LEAVE_S = 2.0
JOIN_S = 9.0


class Feeder:
    """Brings packets into the forms that a room takes, and hands them over at their times."""

    def __init__(self, room: Room) -> None:
        self._room = room
        self._clock = ProgramClock()
        self._steps = Steps(CHUNK_US)
        self._sound = Sound()
        self._sets = b""
        self._shape: Shape | None = None
        self._skipping = True
        """Up to the next key frame."""
        self._still: Frame | None = None
        """The first key frame, until the picture moves on from the next one."""
        self._still_at_us = 0
        self._began = False
        self._due: asyncio.PriorityQueue[tuple[int, int, Frame | bytes]] = asyncio.PriorityQueue()
        self._count = itertools.count()
        self.pictures = 0
        """That were due."""
        self.flowing = False
        """Whether frames are known to have left."""

    async def take(self, packet: Packet) -> None:
        """
        Raises:
            SessionError: the room does not take the programme.
        """
        now_us = time.monotonic_ns() // 1000
        if packet.type == SCRIPT:
            self._shape = shape_of(packet) or self._shape
            if shape := self._shape:
                await self._room.publish(
                    Picture(shape.width, shape.height, shape.framerate, shape.bitrate_bps)
                )
        elif packet.type == VIDEO and packet.header:
            self._sets = parameter_sets(packet)
        elif packet.type == VIDEO and self._shape:
            self._picture(packet, self._shape, now_us)
        elif packet.type == AUDIO:
            late_us = 0 if packet.header else self._clock.arrived(packet.timestamp_ms, now_us)
            for number, chunk in enumerate(self._sound.pcm(packet)):
                wanted_us = self._clock.due_us(packet.timestamp_ms, now_us) + number * CHUNK_US
                if late_us < LATE_SOUND_US:
                    self._put(self._steps.next_us(wanted_us), chunk)

    def _picture(self, packet: Packet, shape: Shape, now_us: int) -> None:
        data = access_unit(packet, self._sets)
        if not data:
            return
        if self._began:
            self._still = None if packet.keyframe else self._still
            frame = Frame(data, packet.keyframe, shape.width, shape.height)
            self._put(self._clock.due_us(packet.timestamp_ms, now_us), frame)
        elif packet.keyframe:
            self._began = True
            self._still = Frame(data, True, shape.width, shape.height)

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
            self.pictures += 1
            self._skipping = self._skipping and not what.keyframe
            if not self._skipping:
                # The library leaves out frames of the future and those that are not in order.
                last_us = max(last_us + 1000, min(now_us, due_us))
                self._skipping = not self._room.video(what, last_us)

    def _repeat_still(self, now_us: int) -> None:
        """Shows those who join before the picture moves on the frame that it begins with.

        Later their wish for a key frame is met by the next one: the encode is everybody's.
        """
        if not self._still or now_us - self._still_at_us < STILL_US:
            return
        # A frame that comes before the way is open is taken and goes nowhere.
        if self._room.wants_keyframe() or not self.flowing:
            self._still_at_us = now_us
            self._room.video(self._still, now_us - HOLD_US)


def _say(message: Message) -> None:
    os.write(sys.stdout.fileno(), line_of(message))


async def _feed(feeder: Feeder, reader: asyncio.StreamReader) -> None:
    async for packet in read_packets(reader):
        await feeder.take(packet)


async def _tell_progress(room: Room, feeder: Feeder) -> None:
    flow = PictureFlow()
    while True:
        progress = await room.progress()
        feeder.flowing = progress.video_bytes > 0
        held_s = flow.look(time.monotonic(), feeder.pictures, progress.pictures_sent)
        _say(replace(progress, pictures_left_out=flow.left_out, held_s=held_s))
        await asyncio.sleep(PROGRESS_S if progress.video_bytes else FIRST_PROGRESS_S)


async def _serve(reader: asyncio.StreamReader) -> None:
    """
    Raises:
        SessionError: the session could not be had, or has ended.
    """
    room = room_of(await read_settings(reader))
    try:
        await asyncio.wait_for(room.join(), JOIN_S)
    except TimeoutError:
        raise SessionError("no answer from the server") from None
    _say(Joined())
    feeder = Feeder(room)
    work = [
        asyncio.create_task(each)
        for each in (_feed(feeder, reader), feeder.play(), _tell_progress(room, feeder))
    ]
    ends: list[asyncio.Future[Any]] = []
    ends += [*work, room.lost]
    done, _ = await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
    for task in work:
        task.cancel()
    if room.lost in done:
        raise room.lost.result()
    with contextlib.suppress(TimeoutError):
        await asyncio.wait_for(room.leave(), LEAVE_S)
    for end in done:
        end.result()


async def run() -> None:
    reader = asyncio.StreamReader(limit=2**20)
    loop = asyncio.get_running_loop()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    try:
        await _serve(reader)
    except SessionError as lost:
        _say(Gone(str(lost), lost.permanent))
    except Exception as error:  # noqa: BLE001  what a library says may hold the token
        _say(Gone(f"internal error ({type(error).__name__})"))
    sys.stdout.flush()
    # The library's own threads are not waited for.
    os._exit(0)
