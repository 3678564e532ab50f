"""The encoder's agent: takes the wanted programme, applies what has changed, reports its state."""

from __future__ import annotations

import asyncio
import contextlib
from pathlib import Path

from onair_crds.contract.program import EncoderPhase, EncoderStatus, Program, ProgramDestination
from onair_crds.resources.enums import BroadcastError
from onair_crds.runtime.stderr_log import log
from onair_encoder.agent import program_file
from onair_encoder.agent.bitrate import BitrateMeter
from onair_encoder.agent.changes import Changes
from onair_encoder.agent.first_frame import FirstFrame
from onair_encoder.agent.kept_destinations import with_kept
from onair_encoder.agent.page import Page
from onair_encoder.agent.stop_time import StopTime
from onair_encoder.encode.client import ProgressClient, want_another_start, want_key_frame, want_pipeline
from onair_encoder.encode.ffmpeg_command import ffmpeg_command
from onair_encoder.media.fan_out import FanOut
from onair_encoder.media.input import MediaInput
from onair_encoder.media.slate_switch import Switch
from onair_encoder.media.snapshot import Snapshots
from onair_encoder.process.kept_task import keep_running
from onair_encoder.publish.delivery import Delivery
from onair_encoder.publish.encoder_run import EncoderRun
from onair_encoder.publish.operator_contact import OperatorContact
from onair_encoder.publish.supplied_destination import SuppliedDestination, now
from onair_encoder.sources.source_relay import SourceRelay

TICK_S = 0.1
STREAMS_END_S = 10.0
"""All streams have ended by then."""
WORD_S = 3.0
END_S = 9.0
"""For ending streams properly while the pod is being deleted."""
YIELD_S = 2.0
"""For closing what is open, before another encoder publishes."""
OVER = ("stopping", "finished", "yielded")
MOST_STARTS_AGAIN = 3
"""Of an ffmpeg that was late, while nothing of it is on air."""
CORRECTED_S = 0.15
"""By then it is known when a first capture was due that was itself late; it has another time then."""
ON_THE_WAY: tuple[EncoderPhase, ...] = ("starting", "running")


class ProgramRefused(Exception):
    """A newer epoch or revision is known, or the encoder is another run's."""


class Agent:
    """One run's encoder from its first programme on: with that come project, broadcast and epoch."""

    def __init__(self, program_path: Path) -> None:
        self.fan_out = FanOut()
        self.snapshots = Snapshots(self.fan_out)
        self.switch = Switch(self.fan_out)
        self.input = MediaInput(self.switch)
        self.changes = Changes()
        self.encode_progress = ProgressClient(self.changes.notify, self._encode_began)
        self._path = program_path
        self.page = Page(program_path.with_name("scene.json"), self.changes.notify)
        self.contact = OperatorContact()
        self.sources = SourceRelay()
        self._first_frame = FirstFrame(self.page, self.switch, self.fan_out, self.encode_progress)
        self._delivery = Delivery(self.fan_out, self.changes.notify)
        self._program: Program | None = None
        self._stop_time = StopTime()
        self._phase: EncoderPhase = "idle"
        self._reported_slate = False
        self._error: BroadcastError | None = None
        self._ending: asyncio.Task[None] | None = None
        self._yielding: asyncio.Task[None] | None = None
        self._bitrate = BitrateMeter()
        self._command: list[str] | None = None
        self._wanting = asyncio.Lock()
        self._wanting_key_frame: asyncio.Task[None] | None = None
        self._starts_again = 0
        self._starting_again: asyncio.Task[None] | None = None

    # -- the wanted programme ---------------------------------------------------------------------

    async def take(self, program: Program) -> None:
        """Makes a programme the wanted one; the same one again changes nothing.

        Raises:
            ProgramRefused: a newer one is known, or one of another run, or another encoder has the place.
        """
        if self._phase == "yielded":
            raise ProgramRefused("this encoder has yielded to another one")
        if known := self._program:
            _refuse_stale(program, known)
            # A run that was stopped stays so, whatever arrives late
            program = program.model_copy(update={"stop": program.stop or known.stop})
        await self._carry_out(with_kept(program, known))

    async def stop(self) -> None:
        """Ends every stream properly, whatever programme it has; another agent of this pod does so, too.

        One without a programme has nothing to end: it may have lost one that says what it has yet to store.
        """
        if self._program and not self._program.stop and self._phase not in OVER:
            await self._carry_out(self._program.model_copy(update={"stop": True}))

    async def _carry_out(self, program: Program) -> None:
        self._program = program
        try:
            program_file.store(self._path, program)
        except OSError as error:
            # It goes on air nevertheless, and after a restart with the operator's next request
            log("program.not-kept", error=error.strerror)
        log(
            "program.taken",
            broadcast=program.broadcast,
            epoch=program.epoch,
            revision=program.revision,
            destinations=len(program.destinations),
            stop=program.stop,
        )
        await self._apply(program)
        self.changes.notify()

    async def _apply(self, program: Program) -> None:
        self._stop_time.want(program.stop_at)
        if self._phase in OVER:
            return
        run = EncoderRun(program.broadcast, program.epoch, self.contact, program.inside)
        if program.stop:
            if self._phase == "idle":
                # Restarted while it drained: what waits on disk is stored, and the playlists are closed
                self._delivery.want(_recordings(program), run)
            self._end(None)
            return
        if self._phase == "idle":
            self._phase = "starting"
            self._first_frame.expect(program.page_timeout_ms)
        self.page.want(program)
        self.fan_out.nominal_bytes_per_s = (program.video.bitrate_bps + program.audio.bitrate_bps) / 8
        self._delivery.want(program.destinations, run, program.unreadable)
        self.sources.want(program.sources, program.source_delay_ms)
        self.switch.want(program)
        framerate = program.video.framerate
        self.switch.audio_delay_ms = lambda: self.encode_progress.audio_delay_ms(framerate, self.page.paints)
        await self._want_pipeline(ffmpeg_command(program))

    def _encode_began(self) -> None:
        if not self._program:
            return
        self.page.set_reducible(self.captures_in_step)
        if self._starting_again:
            self._starting_again.cancel()
        if not self.captures_in_step and self._nothing_goes_out:
            self._starting_again = asyncio.create_task(self._start_again())

    @property
    def _nothing_goes_out(self) -> bool:
        """Another start of ffmpeg takes 0.2 s, which a page that is not ready yet takes anyway."""
        return self._phase == "starting" and self.encode_progress.now.frames == 0 and not self.page.shown

    async def _start_again(self) -> None:
        """Restarts a late ffmpeg, as all its captures stay late; unless only the first of them was."""
        await asyncio.sleep(CORRECTED_S)
        captured_at = self.encode_progress.now.captured_at
        if captured_at is None or not self._nothing_goes_out or self._starts_again >= MOST_STARTS_AGAIN:
            return
        self._starts_again += 1
        try:
            await want_another_start(captured_at)
        except OSError as error:
            log("supervisor.unreachable", error=str(error))

    async def _want_key_frame(self) -> None:
        captured_at = self.encode_progress.now.captured_at
        if captured_at is None:
            return
        try:
            await want_key_frame(captured_at)
        except OSError as error:
            log("supervisor.unreachable", error=str(error))

    @property
    def captures_in_step(self) -> bool:
        """Whether captures are due where paints are on the screen: only then are fewer paints allowed."""
        return self._program is None or self.encode_progress.captures_in_step(self._program.video.framerate)

    @property
    def capture_phase_s(self) -> float | None:
        """How long before each capture Chromium begins a frame; None while it is unknown."""
        return self.encode_progress.capture_phase_s(self.page.paints) if self._program else None

    async def _want_pipeline(self, command: list[str] | None) -> None:
        """Has the one run that was wanted last, in whatever order requests get through."""
        self._command = command
        try:
            async with self._wanting:
                await want_pipeline(self._command)
        except OSError as error:
            log("supervisor.unreachable", error=str(error))

    def _end(self, error: BroadcastError | None) -> None:
        if self._phase in OVER:
            return
        self._phase, self._error = "stopping", error
        self._ending = asyncio.create_task(self._finish())
        self.changes.notify()

    async def _finish(self) -> None:
        finishing = asyncio.create_task(self._delivery.finish())
        try:
            # Recordings may take minutes to be stored, and need no more of the programme for that
            await asyncio.wait({finishing}, timeout=STREAMS_END_S)
            await self.switch.close()
            await self._want_pipeline(None)
            await finishing
        finally:
            if self._phase == "stopping":
                self._phase = "finished"
        log("program.finished", error=self._error)
        self.changes.notify()

    async def yield_place(self) -> None:
        """Closes every stream at once and for good: another encoder publishes once this returns."""
        if self._yielding is None:
            self._yielding = asyncio.create_task(self._yield())
        await asyncio.shield(self._yielding)

    async def _yield(self) -> None:
        self._phase = "yielded"
        log("program.yielded")
        program_file.store_yielded(self._path)
        if self._ending:
            self._ending.cancel()
        try:
            async with asyncio.timeout(YIELD_S):
                await self._delivery.close()
        except TimeoutError:
            log("program.yields-late")
        await self.switch.close()
        await self._want_pipeline(None)
        self.changes.notify()

    async def leave(self) -> None:
        """Goes on, as the pod is being deleted, until the operator says how it ends, or for 3 s at most.

        Either another encoder takes the place, or the run is over and the streams are ended properly. Where
        nobody says so recordings are closed nevertheless: another encoder would continue them.
        """
        if self._phase in ("starting", "running") and not self.contact.lost:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(WORD_S):
                    await self.changes.until(lambda: self._phase in OVER)
        if self._ending:
            self._delivery.hurry()
            await asyncio.wait({self._ending}, timeout=END_S)
        elif self._phase in ON_THE_WAY:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(END_S):
                    await self._delivery.close_recordings()

    # -- the observed state -----------------------------------------------------------------------

    def status(self) -> EncoderStatus:
        program = self._program
        has_page = program is not None and self._phase != "finished"
        return EncoderStatus(
            phase=self._phase,
            broadcast=program.broadcast if program else None,
            epoch=program.epoch if program else 0,
            revision=program.revision if program else 0,
            first_frame=self._first_frame.at,
            composition_error=self.page.error(on_slate=self.switch.on_slate) if has_page else None,
            failed_layers=self.page.scene.failed_layers,
            on_slate=self.switch.on_slate,
            encode_error=self.encode_progress.error if self._phase in ON_THE_WAY else None,
            error=self._error,
            destinations=self._delivery.states,
            removed_waiting_s=self._delivery.removed_waiting_s,
            frames=self.fan_out.frames,
            bitrate_bps=self._bitrate.bps(self.fan_out.bytes),
            at=now(),
        )

    @property
    def destinations(self) -> list[SuppliedDestination]:
        return self._delivery.destinations

    # -- in the course of time --------------------------------------------------------------------

    async def resume(self) -> None:
        """Takes up the programme that this pod's agent had before, if any: with it, run and epoch."""
        if program_file.has_yielded(self._path):
            await self.yield_place()
        elif stored := program_file.load(self._path):
            self._program = stored
            try:
                await self._apply(stored)
            except Exception as error:  # noqa: BLE001  the next programme may be a better one
                # Its text may hold a key
                log("program.not-resumed", error=type(error).__name__)
                # As one that was never taken, so that the operator sends it again
                self._program = stored.model_copy(update={"revision": 0})

    async def run(self) -> None:
        """Resumes a stored programme and looks after the present one until cancelled."""
        runs = {"page": self.page.run, "progress": self.encode_progress.run}
        helpers = [asyncio.create_task(keep_running(run, name), name=name) for name, run in runs.items()]
        server = await self.input.listen()
        await self.resume()
        try:
            while True:
                self._tick()
                await asyncio.sleep(TICK_S)
        finally:
            await self.close()
            for helper in helpers:
                helper.cancel()
            server.close()

    async def close(self) -> None:
        """Closes every stream at once; another agent of this pod may resume them."""
        self._delivery.abort()
        self.page.scene.close()
        await self.switch.close()

    def _tick(self) -> None:
        if self._phase in ON_THE_WAY:
            self.switch.check(page_shown=self.page.shown)
            if self.switch.wants_key_frame():
                self._wanting_key_frame = asyncio.create_task(self._want_key_frame())
        if self._phase == "starting" and self._first_frame.seen():
            self._phase = "running"
            log("program.running", slate=self.switch.on_slate)
            self.changes.notify()
        if self.switch.on_slate != self._reported_slate:
            self._reported_slate = self.switch.on_slate
            self.changes.notify()
        if self._stop_time.reached:
            self._end(BroadcastError.DURATION_EXCEEDED)


def _recordings(program: Program) -> list[ProgramDestination]:
    return [each for each in program.destinations if each.storage and each.storage.vod]


def _refuse_stale(program: Program, known: Program) -> None:
    if (program.project, program.broadcast) != (known.project, known.broadcast):
        raise ProgramRefused(f"this encoder is of broadcast {known.broadcast} of project {known.project}")
    if program.epoch < known.epoch:
        raise ProgramRefused(f"epoch {program.epoch} is over: {known.epoch} is known")
    if program.epoch == known.epoch and program.revision < known.revision:
        raise ProgramRefused(f"revision {program.revision} is over: {known.revision} is known")
