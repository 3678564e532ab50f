"""Between the live encode and the fan-out: puts the slate on air while there is no video."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Callable

from onair_crds.contract.program import Program
from onair_crds.media.flv import AUDIO, SCRIPT, VIDEO, Packet
from onair_crds.runtime.stderr_log import log
from onair_encoder.media.fan_out import FanOut
from onair_encoder.media.slate import Slate

GAP_TIMEOUT_S = 1.0
"""A shorter gap is not worth two cuts: ffmpeg and Chromium are back sooner than this."""
GAP_FRAMES = 2.5
"""So many distances of frames are no gap: at one frame a second, some are more than a second apart."""
SLATE_RETRY_S = 10.0
KEY_FRAME_TIMEOUT_S = 2.5
"""Longer than most distances of key frames; a restart of ffmpeg, which begins with one, takes 0.4 s."""
JUMP_FRAMES = 3
"""ffmpeg's frames are at equal distances: where one is so many late, its queue was full and was dropped."""


class Switch:
    """Takes ffmpeg's packets. `check` is to be called several times a second."""

    def __init__(self, fan_out: FanOut, clock: Callable[[], float] = time.monotonic) -> None:
        self.on_slate = False
        self.slates = 0
        """How many times the slate went on air."""
        self.on_frame: Callable[[Packet], None] = lambda _: None
        """Called with every frame as it comes from ffmpeg, with ffmpeg's own time."""
        self.audio_delay_ms: Callable[[], int] = lambda: 0
        """How much later than its capture live audio is played: as long as frames took to theirs."""
        self._audio_delay_ms: int | None = None
        self._fan_out = fan_out
        self._clock = clock
        self._headers: dict[int, Packet] = {}
        """Live script data and codec configurations, by packet type."""
        self._frame_at: float | None = None
        self._frames_gap_s = GAP_TIMEOUT_S
        """For so long there may be no frames."""
        self._page_gone_at: float | None = None
        self._page_shown = False
        self._back_at: float | None = None
        """Since when frames come that lack but a key frame: on the slate, those of the wanted page."""
        self._whole = False
        """All frames since a key frame have come: the next one can be decoded."""
        self._last_ms: int | None = None
        """ffmpeg's time of its last frame."""
        self._step_ms: int | None = None
        """Between its last two."""
        self._began_at: float | None = None
        self._slate: Slate | None = None
        self._encoded_for: object = None
        self._encoding: asyncio.Task[None] | None = None
        self._playing: asyncio.Task[None] | None = None

    def live_begins(self) -> None:
        """ffmpeg has (re)connected."""
        self._headers.clear()
        self._audio_delay_ms = self._back_at = self._last_ms = self._step_ms = None
        # It may have reconnected between two key frames
        self._whole = False
        if not self.on_slate:
            self._fan_out.stream_begins()

    def live(self, packet: Packet) -> None:
        """Takes a packet of ffmpeg's."""
        is_frame = packet.type == VIDEO and not packet.header
        if is_frame:
            self.on_frame(packet)
            self._follow_frames(packet)
        if packet.type == SCRIPT or packet.header:
            self._headers[packet.type] = packet
        if self.on_slate:
            if not (packet.keyframe and self._page_shown):
                if self._page_shown and is_frame:
                    self._back_at = self._back_at or self._clock()
                return
            self._resume_live(packet.timestamp_ms)
        elif is_frame and not self._whole:
            self._back_at = self._back_at or self._clock()
            return
        if packet.type == AUDIO and not packet.header:
            packet = Packet(AUDIO, packet.timestamp_ms + self._next_audio_delay_ms(), packet.body)
        self._fan_out.put(packet)

    def _follow_frames(self, frame: Packet) -> None:
        """Notes whether a frame can be decoded, and when the last one came that can be."""
        step_ms = None if self._last_ms is None else frame.timestamp_ms - self._last_ms
        self._last_ms = frame.timestamp_ms
        if frame.keyframe:
            self._whole = True
            if not self.on_slate:
                self._back_at = None
        elif step_ms and self._step_ms and step_ms > JUMP_FRAMES * self._step_ms:
            log("stream.jumps", by_ms=step_ms)
            self._whole = False
        else:
            self._step_ms = step_ms
        if self._whole:
            self._frame_at = self._clock()

    def _next_audio_delay_ms(self) -> int:
        """What is due, reached by a millisecond a packet, which no player hears."""
        due_ms = self.audio_delay_ms()
        now_ms = due_ms if self._audio_delay_ms is None else self._audio_delay_ms
        self._audio_delay_ms = now_ms + max(-1, min(1, due_ms - now_ms))
        return self._audio_delay_ms

    def _resume_live(self, time_ms: int) -> None:
        self._end_slate()
        log("slate.ends")
        self._fan_out.stream_begins()
        for header in self._headers.values():
            self._fan_out.put(Packet(header.type, time_ms, header.body))

    def want(self, program: Program) -> None:
        """Has a slate encoded for this programme, unless there is one of its format."""
        if self._began_at is None:
            self._began_at = self._clock()
        encoded_for = (program.video, program.audio)
        if encoded_for == self._encoded_for:
            return
        self._encoded_for = encoded_for
        self._frames_gap_s = max(GAP_TIMEOUT_S, GAP_FRAMES / program.video.framerate)
        self._slate = None
        if self._encoding:
            self._encoding.cancel()
        self._encoding = asyncio.create_task(self._encode(program), name="slate")

    async def _encode(self, program: Program) -> None:
        # Not while everything else starts: in most shows nobody ever sees it.
        await asyncio.sleep(GAP_TIMEOUT_S)
        self._slate = await Slate.encode(program)
        while self._slate is None:
            await asyncio.sleep(SLATE_RETRY_S)
            self._slate = await Slate.encode(program)

    def check(self, *, page_shown: bool) -> None:
        """Puts the slate on air where it is due; `page_shown`: the browser shows the wanted page."""
        now = self._clock()
        self._page_shown = page_shown
        if page_shown:
            self._page_gone_at = None
        else:
            self._page_gone_at = now if self._page_gone_at is None else self._page_gone_at
            self._back_at = None
        if self.on_slate or self._slate is None or self._began_at is None:
            return
        page_gone = self._page_gone_at is not None and now - self._page_gone_at > GAP_TIMEOUT_S
        no_frames = now - (self._frame_at or self._began_at) > self._frames_gap_s
        if page_gone or no_frames:
            log("slate.begins", page_shown=page_shown, frames=not no_frames)
            self.on_slate = True
            self.slates += 1
            self._playing = asyncio.create_task(self._play(self._slate), name="slate on air")

    def wants_key_frame(self) -> bool:
        """Whether there is no live video for want of a key frame alone; true again only after as long a time.

        A programme may have one in a thousand seconds.
        """
        now = self._clock()
        if self._back_at is None or now - self._back_at < KEY_FRAME_TIMEOUT_S:
            return False
        self._back_at = None
        return True

    async def _play(self, slate: Slate) -> None:
        self._fan_out.stream_begins()
        for header in slate.headers:
            self._fan_out.put(header)
        began = self._clock()
        for packet in slate.packets():
            wait_s = began + packet.timestamp_ms / 1000 - self._clock()
            if wait_s > 0:
                await asyncio.sleep(wait_s)
            self._fan_out.put(packet)

    def _end_slate(self) -> None:
        self.on_slate, self._back_at = False, None
        if self._playing:
            self._playing.cancel()
            self._playing = None

    async def close(self) -> None:
        """Sends nothing any more."""
        self._end_slate()
        if self._encoding:
            self._encoding.cancel()
            with contextlib.suppress(asyncio.CancelledError, Exception):
                await self._encoding
