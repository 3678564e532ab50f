"""The progress of an encode, parsed by PID 1 from ffmpeg's output: `-progress`, and its log."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace

PROGRESS_OPTIONS = ["-loglevel", "level+info", "-nostats", "-progress", "pipe:1", "-stats_period", "1"]
FOLLOW = "follow"
"""The agent's request to PID 1 to be sent progress."""
AGAIN = "again"
"""The key of its request to restart the ffmpeg that has this `captured_at`, if it has encoded nothing yet."""
RESTART = "restart"
"""The key of its request to restart the ffmpeg that has this `captured_at`, which encodes."""
_FIELD = re.compile(r"([a-z_]+)=\s*([0-9.]+)x?")
_START = re.compile(r"\[info\]\s+Duration: N/A, start: ([0-9]{9,}\.[0-9]+)")
_FIRST_WAS_LATE = re.compile(r"\[info\] (-[0-9]\.[0-9]{6})")
_WORTH_LOGGING = re.compile(r"\[(warning|error|fatal|panic)\]")


@dataclass(frozen=True)
class EncodeProgress:
    """The progress of the ffmpeg that runs now, with totals of all since the pod started."""

    frames: int = 0
    dropped: int = 0
    """Captures that came so late that the previous frame was encoded again instead."""
    duplicated: int = 0
    """Frames that were encoded again because the next capture came late."""
    speed: float = 0.0
    """1 is real time; less for long means that the encoder cannot keep up."""
    captured_at: float | None = None
    """Unix seconds at which the frame with timestamp 0 was due to be taken from the screen."""
    first_late_s: float = 0.0
    """How much later it was taken, as the processor was busy."""
    failures: int = 0
    """How many in a row hung or ended by themselves."""

    def encode(self) -> str:
        """A line of JSON."""
        return json.dumps(asdict(self))

    @classmethod
    def decode(cls, line: str) -> EncodeProgress:
        """Decodes a line of progress.

        Raises:
            ValueError: no such line.
        """
        try:
            return cls(**json.loads(line))
        except TypeError as error:
            raise ValueError("not the progress of an encode") from error


class ProgressParser:
    """Takes ffmpeg's lines; reports progress once a second."""

    def __init__(
        self, changed: Callable[[EncodeProgress], None], log_line: Callable[[str], None] = print
    ) -> None:
        self.now = EncodeProgress()
        self._changed = changed
        self._log_line = log_line
        self._before = EncodeProgress()
        """Totals of those that ran earlier."""
        self._block: dict[str, float] = {}

    def started(self) -> None:
        """Another ffmpeg starts."""
        self._before = self.now
        self._block = {}
        self.now = replace(self.now, speed=0.0, captured_at=None, first_late_s=0.0)

    def line(self, text: str) -> None:
        if found := _START.search(text):
            # Both inputs have one: the screen comes first
            if self.now.captured_at is None:
                self.now = replace(self.now, captured_at=float(found[1]))
                self._changed(self.now)
        elif found := _FIRST_WAS_LATE.fullmatch(text):
            if self.now.captured_at is not None:
                late_s = -float(found[1])
                due_at = self.now.captured_at + self.now.first_late_s - late_s
                self.now = replace(self.now, captured_at=due_at, first_late_s=late_s)
                self._changed(self.now)
        elif _WORTH_LOGGING.search(text):
            self._log_line(text)
        elif text.startswith("progress="):
            self._take_block()
        elif found := _FIELD.fullmatch(text):
            try:
                self._block[found[1]] = float(found[2])
            except ValueError:
                return

    def _take_block(self) -> None:
        block, before = self._block, self._before
        self.now = replace(
            self.now,
            frames=before.frames + int(block.get("frame", 0)),
            dropped=before.dropped + int(block.get("drop_frames", 0)),
            duplicated=before.duplicated + int(block.get("dup_frames", 0)),
            speed=block.get("speed", 0.0),
        )
        self._changed(self.now)
