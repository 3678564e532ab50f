"""The encoder's agent: takes the wanted programme, works out the difference, tells what is."""

from __future__ import annotations

import asyncio
import contextlib
import datetime as dt
import time
from pathlib import Path

from onair_crds.contract.program import (
    DestinationState,
    EncoderPhase,
    EncoderStatus,
    Program,
    ProgramDestination,
)
from onair_crds.resources.enums import BroadcastError
from onair_encoder.agent import program_file
from onair_encoder.browser.client import BrowserClient
from onair_encoder.encode.client import EncodingClient, want_pipeline
from onair_encoder.encode.command import ffmpeg_command
from onair_encoder.logs import log
from onair_encoder.media.fan_out import FanOut
from onair_encoder.media.input import ProgramInput
from onair_encoder.media.snapshot import Snapshots
from onair_encoder.media.switch import Switch
from onair_encoder.publish.delivery import Delivery
from onair_encoder.publish.publisher import Counters, now

TICK_S = 0.1
HEARTBEAT_S = 2.0


class StaleProgram(Exception):
    """A newer epoch or revision is known."""


class Agent:
    def __init__(self, epoch: int, program_path: Path) -> None:
        self.fan_out = FanOut()
        self.snapshots = Snapshots(self.fan_out)
        self.switch = Switch(self.fan_out)
        self.input = ProgramInput(self.switch)
        self.encoding = EncodingClient()
        self._epoch = epoch
        self._path = program_path
        self._changed = asyncio.Condition()
        self._version = 0
        self._browser = BrowserClient(self._touch)
        self._delivery = Delivery(self.fan_out, self._touch)
        self._program: Program | None = None
        self._phase: EncoderPhase = "idle"
        self._first_frame: str | None = None
        self._loaded_at: float | None = None
        self._error: BroadcastError | None = None
        self._ending: asyncio.Task[None] | None = None
        self._rate = (time.monotonic(), 0, 0)

    # -- what is wanted ---------------------------------------------------------------------------

    async def take(self, program: Program) -> None:
        """Takes a programme; the same one again changes nothing.

        Raises:
            StaleProgram: a newer one is known.
        """
        known = self._program
        if program.epoch < self._epoch:
            raise StaleProgram(f"epoch {program.epoch} is over: {self._epoch} is known")
        if known and program.epoch == known.epoch and program.revision < known.revision:
            raise StaleProgram(f"revision {program.revision} is over: {known.revision} is known")
        self._epoch = program.epoch
        self._program = program
        program_file.store(self._path, program)
        log(
            "program.taken",
            broadcast=program.broadcast,
            epoch=program.epoch,
            revision=program.revision,
            destinations=len(program.destinations),
            stop=program.stop,
        )
        await self._carry_out(program)
        self._touch()

    async def _carry_out(self, program: Program) -> None:
        if self._phase in ("stopping", "finished"):
            return
        if program.stop:
            self._end(None)
            return
        if self._phase == "idle":
            self._phase = "starting"
        self._browser.want(program.composition_url, program.video.width, program.video.height)
        self.fan_out.nominal_bytes_per_s = (program.video.bitrate_bps + program.audio.bitrate_bps) / 8
        self._delivery.want(program.destinations, program.broadcast)
        self.switch.want(program)
        await self._want_pipeline(ffmpeg_command(program))

    async def _want_pipeline(self, command: list[str] | None) -> None:
        try:
            await want_pipeline(command)
        except OSError as error:
            log("supervisor.unreachable", error=str(error))

    def _end(self, error: BroadcastError | None) -> None:
        if self._phase in ("stopping", "finished"):
            return
        self._phase, self._error = "stopping", error
        self._ending = asyncio.create_task(self._finish())
        self._touch()

    async def _finish(self) -> None:
        try:
            await self._delivery.finish()
            await self.switch.close()
        finally:
            await self._want_pipeline(None)
            self._phase = "finished"
        log("program.finished", error=self._error)
        self._touch()

    # -- what is ----------------------------------------------------------------------------------

    def _touch(self) -> None:
        self._version += 1
        task = asyncio.ensure_future(self._notify())
        task.add_done_callback(lambda _: None)

    async def _notify(self) -> None:
        async with self._changed:
            self._changed.notify_all()

    def status(self) -> EncoderStatus:
        program = self._program
        return EncoderStatus(
            phase=self._phase,
            broadcast=program.broadcast if program else None,
            epoch=program.epoch if program else self._epoch,
            revision=program.revision if program else 0,
            first_frame=self._first_frame,
            composition_error=self._browser.error if program and self._phase != "finished" else None,
            error=self._error,
            destinations=self._delivery.states,
            frames=self.fan_out.frames,
            bitrate_bps=self._bitrate(),
            at=now(),
        )

    def counters(self) -> list[tuple[ProgramDestination, DestinationState, Counters]]:
        """What each destination is, how it is and what it has come to."""
        return self._delivery.counters_of_all()

    def _bitrate(self) -> int:
        at, total, rate = self._rate
        elapsed = time.monotonic() - at
        if elapsed >= 1.0:
            rate = round((self.fan_out.bytes - total) * 8 / elapsed)
            self._rate = (time.monotonic(), self.fan_out.bytes, rate)
        return rate

    async def changed(self, since: int) -> int:
        """Waits for a transition after `since`, at most a heartbeat; gives the present version."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(HEARTBEAT_S), self._changed:
                await self._changed.wait_for(lambda: self._version != since)
        return self._version

    # -- the passing of time ----------------------------------------------------------------------

    async def run(self) -> None:
        """Takes up a stored programme and looks after the present one until cancelled."""
        helpers = [asyncio.create_task(each.run()) for each in (self._browser, self.encoding)]
        server = await self.input.listen()
        stored = program_file.load(self._path)
        if stored and stored.epoch >= self._epoch:
            self._program, self._epoch = stored, stored.epoch
            await self._carry_out(stored)
        try:
            while True:
                self._tick()
                await asyncio.sleep(TICK_S)
        finally:
            self._delivery.abort()
            await self.switch.close()
            for helper in helpers:
                helper.cancel()
            server.close()

    def _tick(self) -> None:
        if self._phase in ("starting", "running"):
            self.switch.look(page_shown=self._browser.loaded)
        if self._phase == "starting":
            self._look_for_first_frame()
        stop_at = self._program.stop_at if self._program else None
        if stop_at and dt.datetime.now(dt.UTC) >= dt.datetime.fromisoformat(stop_at):
            self._end(BroadcastError.DURATION_EXCEEDED)

    def _look_for_first_frame(self) -> None:
        if not self._browser.loaded:
            self._loaded_at = None
            return
        if self._loaded_at is None:
            self._loaded_at = time.time()
        keyframe_at = self.fan_out.last_keyframe_at
        if keyframe_at and keyframe_at >= self._loaded_at and not self.switch.on_slate:
            self._phase = "running"
            self._first_frame = self._first_frame or now()
            log("program.running")
            self._touch()
