"""The one ffmpeg of a pod: started as wanted, restarted where it hangs, its inputs or the time are others."""

from __future__ import annotations

import asyncio
import json
import signal
import socket
from dataclasses import replace
from pathlib import Path

from onair_crds.runtime.stderr_log import log
from onair_encoder.encode.capture_threads import capture_threads
from onair_encoder.encode.captured_rate import captured_rate
from onair_encoder.encode.health import EncodeHealth
from onair_encoder.encode.progress import AGAIN, FOLLOW, RESTART, EncodeProgress, ProgressParser
from onair_encoder.encode.start_gate import StartGate
from onair_encoder.encode.wall_clock import ClockSteps
from onair_encoder.paths import PULSE_SOCKET, START_GATE, X_SOCKET
from onair_encoder.process.child import Child
from onair_encoder.process.short_slices import ask_for_short_slices
from onair_encoder.process.wait import wait_for_path

LOOK_S = 0.25
MAX_FAILURES = 12
"""In a row: then the container ends. The operator, if it is there, has replaced the pod long before."""
MOST_UNREAD_BYTES = 65536
"""A follower that lets more wait is sent nothing until it has read."""


class Pipeline:
    def __init__(self) -> None:
        self._child: Child | None = None
        self._wanted: list[str] | None = None
        self._turn = asyncio.Lock()
        self._inputs: tuple[object, ...] = ()
        """Which display and sound server ffmpeg was started on."""
        self._progress = ProgressParser(self._take_progress)
        self._health = EncodeHealth()
        self._clock_steps = ClockSteps()
        self._gate = StartGate(START_GATE)
        self._followers: set[asyncio.StreamWriter] = set()
        self._punctual: asyncio.subprocess.Process | None = None
        """The ffmpeg whose threads of captures were found, and go first."""

    def _take_progress(self, progress: EncodeProgress) -> None:
        self._make_punctual(encodes=progress.speed > 0)
        if self._health.encoded(progress.frames):
            log("encode.steady")
        self._send_progress(progress)

    def _make_punctual(self, *, encodes: bool) -> None:
        """Has captures go first where others want the processor, too: a late one shows the next paint.

        Args:
            encodes: for a while; before, the thread of the gate may still be there.
        """
        process = self._child.process if self._child else None
        if process is None or process is self._punctual:
            return
        taken = [ask_for_short_slices(thread) for thread in capture_threads(process.pid)]
        if taken and encodes:
            self._punctual = process
            log("captures.short-slices", asked_for=len(taken), taken=sum(taken))

    def _send_progress(self, progress: EncodeProgress) -> None:
        progress = replace(progress, failures=self._health.failures)
        for follower in list(self._followers):
            if follower.transport.get_write_buffer_size() < MOST_UNREAD_BYTES:
                follower.write(progress.encode().encode() + b"\n")

    async def _ready(self) -> None:
        await wait_for_path(X_SOCKET)
        await wait_for_path(PULSE_SOCKET)
        self._inputs = _inputs()
        self._progress.started()
        self._send_progress(self._progress.now)
        self._health.started()
        self._gate.close(captured_rate(self._wanted or []))

    def _ended(self) -> None:
        self._gate.forget()
        # Without its inputs, or when it was ended to open them again, it is not to blame
        self._health.ended(failed=bool(self._inputs) and _inputs_respond())
        self._send_progress(self._progress.now)

    async def want(self, command: list[str] | None) -> None:
        """Runs this command and no other; the same command is left alone. The last request counts."""
        self._wanted = command
        async with self._turn:
            command = self._wanted
            if self._child and self._child.command == command:
                return
            if self._child:
                await self._child.stop(signal.SIGINT)
                self._gate.forget()
                self._child = None
                self._health.ended(failed=False)
            if command:
                self._child = Child(
                    "ffmpeg", command, before=self._ready, on_end=self._ended, on_line=self._progress.line
                )
                self._child.start()

    def start_again(self, captured_at: float) -> None:
        """Restarts the present ffmpeg, if its first capture was due then and nothing was encoded yet.

        A request may come too late.
        """
        now = self._progress.now
        is_meant = now.captured_at is not None and now.captured_at == captured_at and now.frames == 0
        if self._child and is_meant:
            log("encode.starts-again")
            self._inputs = ()
            self._child.kill()

    def restart(self, captured_at: float) -> None:
        """Restarts the present ffmpeg, if its first capture was due then: it begins with a key frame."""
        if self._child and self._progress.now.captured_at == captured_at:
            log("encode.restarted")
            self._kill_blameless(self._child)

    async def look_after(self) -> None:
        """Restarts ffmpeg where it hangs, its display or sound server was replaced, or the clock was set.

        ffmpeg itself would continue with the last frame, or without audio; where the clock was set forward
        it would fill that time with copies of a frame.
        Returns when it has failed too often.
        """
        while self._health.failures < MAX_FAILURES:
            await asyncio.sleep(LOOK_S)
            found, step_s = _inputs(), self._clock_steps.look()
            if not self._child or not self._inputs:
                continue
            if None not in found and found != self._inputs:
                log("inputs.replaced")
                self._kill_blameless(self._child)
            elif step_s:
                log("clock.set", by_s=round(step_s, 3))
                self._kill_blameless(self._child)
            elif self._health.hangs:
                log("encode.hangs", failures=self._health.failures + 1)
                if not self._child.kill():
                    # There is none, though one was about to start: that it comes to nothing counts as well
                    self._health.ended(failed=True)
                    self._health.started()
        log("encode.hopeless", failures=self._health.failures)

    def _kill_blameless(self, child: Child) -> None:
        """Has ffmpeg restarted without a failure of its own; one that is just starting is looked after."""
        if child.kill():
            self._inputs = ()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while line := await reader.readline():
                request = json.loads(line)
                if request == FOLLOW:
                    self._followers.add(writer)
                    self._send_progress(self._progress.now)
                elif isinstance(request, dict) and RESTART in request:
                    self.restart(request[RESTART])
                elif isinstance(request, dict):
                    self.start_again(request[AGAIN])
                else:
                    await self.want(request)
        except (ConnectionError, ValueError, KeyError) as error:
            log("pipeline.request-invalid", error=str(error))
        finally:
            self._followers.discard(writer)
            writer.close()


def _inputs() -> tuple[object, ...]:
    """Identifies the display and the sound server that run now; None for one that does not."""

    def identity(path: Path) -> tuple[int, int] | None:
        try:
            found = path.stat()
        except OSError:
            return None
        return found.st_ino, found.st_ctime_ns

    return identity(X_SOCKET), identity(PULSE_SOCKET)


def _inputs_respond() -> bool:
    """Whether a display and a sound server take connections: a socket may be all that is left of one."""
    for path in (X_SOCKET, PULSE_SOCKET):
        try:
            with socket.socket(socket.AF_UNIX) as client:
                client.setblocking(False)
                client.connect(str(path))
        except BlockingIOError:
            # It is there and accepts none of those that wait: only as failures does anybody hear of that
            continue
        except OSError:
            return False
    return True
