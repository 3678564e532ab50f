"""The agent's side of the encoder container's socket: says which ffmpeg is to run, follows its progress."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable

from onair_crds.runtime.stderr_log import log
from onair_encoder.encode.codec_options import exact_framerate
from onair_encoder.encode.paint import Paints, capture_age_ms, capture_phase_s, off_phase_ms
from onair_encoder.encode.progress import AGAIN, FOLLOW, RESTART, EncodeProgress
from onair_encoder.encode.wall_clock import wall_ahead_s
from onair_encoder.paths import SUPERVISOR_SOCKET

FOLLOW_RETRY_S = 0.5
OFF_PHASE_MS = 2.0
"""By which captures may be off."""
AUDIO_LATE_MS = 9
"""Compared with what is painted with it, in every start; measured by flashes and clicks."""
HOPELESS_FAILURES = 6
"""In a row: then another pod, on another node, is more likely to encode."""


async def want_pipeline(command: list[str] | None) -> None:
    """Requests PID 1 to run this command, and no other; None: nothing.

    Raises:
        OSError: PID 1 is unavailable.
    """
    await _request(command)


async def want_another_start(captured_at: float) -> None:
    """Requests PID 1 to restart ffmpeg, if the present one's first capture was due then (Unix seconds).

    Raises:
        OSError: PID 1 is unavailable.
    """
    await _request({AGAIN: captured_at})


async def want_key_frame(captured_at: float) -> None:
    """Requests PID 1 to restart ffmpeg, which begins with a key frame, if it is still the one of then.

    Raises:
        OSError: PID 1 is unavailable.
    """
    await _request({RESTART: captured_at})


async def _request(value: object) -> None:
    _, writer = await asyncio.open_unix_connection(SUPERVISOR_SOCKET)
    writer.write(json.dumps(value).encode() + b"\n")
    await writer.drain()
    writer.close()
    await writer.wait_closed()


class ProgressClient:
    """Has the last progress of the encode; `changed` is called when that begins to fail or recovers."""

    def __init__(self, changed: Callable[[], None], began: Callable[[], None] = lambda: None) -> None:
        """
        Args:
            began: called when it is known when another ffmpeg took its first capture.
        """
        self.now = EncodeProgress()
        self.first_capture_s: float | None = None
        """When the present ffmpeg took its first one, on the monotonic clock; None while that is unknown."""
        self._changed = changed
        self._began = began

    @property
    def error(self) -> str | None:
        """Why nothing is encoded; None while there is hope that a restart helps."""
        failures = self.now.failures
        return f"ffmpeg hung or ended {failures} times in a row" if failures >= HOPELESS_FAILURES else None

    async def run(self) -> None:
        """Follows PID 1 until cancelled."""
        while True:
            try:
                reader, writer = await asyncio.open_unix_connection(SUPERVISOR_SOCKET)
                writer.write(json.dumps(FOLLOW).encode() + b"\n")
                try:
                    while line := await reader.readline():
                        self._take(EncodeProgress.decode(line.decode()))
                finally:
                    writer.close()
            except (OSError, ValueError) as error:
                log("supervisor.unreachable", error=str(error))
            await asyncio.sleep(FOLLOW_RETRY_S)

    def capture_phase_s(self, paints: Paints) -> float | None:
        """How long before each capture Chromium began a frame; None while it is unknown."""
        first_s = self.first_capture_s
        return None if first_s is None else capture_phase_s(first_s, paints.tick_us)

    def captures_in_step(self, framerate: float) -> bool:
        """Whether captures are due where paints are on the screen, as they are unless ffmpeg was late."""
        first_s, exact = self.first_capture_s, exact_framerate(framerate)
        return first_s is None or off_phase_ms(first_s, exact) <= OFF_PHASE_MS

    def audio_delay_ms(self, framerate: float, paints: Paints) -> int:
        """How much later than its timestamps audio is due, in the present ffmpeg.

        As long as what the page paints takes to its capture; and the first frame, which has the timestamp
        of the audio that was captured with it, the number of an earlier one.
        """
        age_ms = capture_age_ms(self.first_capture_s, exact_framerate(framerate), paints)
        return round(age_ms - AUDIO_LATE_MS + self.now.first_late_s * 1000)

    def _take(self, progress: EncodeProgress) -> None:
        before, self.now = self.now, progress
        if progress.failures != before.failures:
            self._changed()
        if progress.captured_at != before.captured_at:
            # At once: the clock that ffmpeg uses may be set at any time
            at = progress.captured_at
            self.first_capture_s = None if at is None else at - wall_ahead_s()
            self._began()
