"""How long a page's paints take to the screen, by Chromium's own records of its frames."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterable
from typing import NamedTuple

from onair_encoder.browser.cdp import CdpError
from onair_encoder.browser.cdp_messages import Message

CATEGORY = "disabled-by-default-devtools.timeline.frame"
LENGTH_S = 0.3
END_TIMEOUT_S = 5.0
BUFFER_KB = 1024
FEWEST = 5
"""Fewer frames say nothing about the next ones."""
MOST = 32


class Trace(NamedTuple):
    """What a trace says.

    Attributes:
        delays_ms: how long after its frame began each paint was on the screen; empty if the page painted too
            rarely to tell.
        dropped: frames that never came to the screen, though they had something to show.
    """

    delays_ms: list[float]
    dropped: int = 0


class FrameTrace:
    """Takes short traces of a browser, one at a time. `event` is to be called with its events."""

    def __init__(self, call: Callable[[str, Message], Awaitable[Message]]) -> None:
        self._call = call
        self._records: list[Message] = []
        self._complete = asyncio.Event()

    async def _start(self) -> None:
        """Starts one; ends one that was left behind, as the browser took too long for a call."""
        try:
            await self._call("Tracing.start", _CONFIG)
        except CdpError:
            await self._call("Tracing.end", {})
            raise

    def event(self, method: str, params: Message) -> None:
        if method == "Tracing.dataCollected":
            self._records += params.get("value", [])
        elif method == "Tracing.tracingComplete":
            self._complete.set()

    async def take(self, length_s: float = LENGTH_S) -> Trace | None:
        """Returns how long paints took to the screen; None if the browser is too busy to tell.

        Takes so long, and some milliseconds of the browser.

        Raises:
            CdpClosed: the browser has ended, or does not respond.
        """
        self._records.clear()
        self._complete.clear()
        try:
            await self._start()
            try:
                await asyncio.sleep(length_s)
            finally:
                await self._call("Tracing.end", {})
            async with asyncio.timeout(END_TIMEOUT_S):
                await self._complete.wait()
            return Trace(paint_delays_ms(self._records), dropped_frames(self._records))
        except (CdpError, TimeoutError):
            return None
        finally:
            self._records.clear()


_CONFIG: Message = {
    "transferMode": "ReportEvents",
    "traceConfig": {
        "recordMode": "recordUntilFull",
        "traceBufferSizeInKb": BUFFER_KB,
        "includedCategories": [CATEGORY],
        "excludedCategories": ["*"],
    },
}


def paint_delays_ms(records: Iterable[Message]) -> list[float]:
    """The delays of at most `MOST` frames that a page painted; of what was only composed, if it paints none.

    Args:
        records: trace events. `PipelineReporter` spans a frame from its begin to the screen; a step of the
            same id, `SendBeginMainFrameToCommit`, says that the page itself painted it.
    """
    began: dict[str, Message] = {}
    of_page: set[str] = set()
    painted: list[float] = []
    composed: list[float] = []
    for record in sorted(records, key=lambda each: float(each.get("ts", 0))):
        frame = json.dumps([record.get("pid"), record.get("id2", record.get("id"))])
        match record.get("name"), record.get("ph"):
            case "PipelineReporter", "b":
                began[frame] = record
                of_page.discard(frame)
            case "SendBeginMainFrameToCommit", "b":
                of_page.add(frame)
            case "PipelineReporter", "e" if start := began.pop(frame, None):
                if _is_shown(start):
                    delay_ms = round((record["ts"] - start["ts"]) / 1000, 1)
                    (painted if frame in of_page else composed).append(delay_ms)
            case _:
                pass
    delays = painted if len(painted) >= FEWEST else composed
    return delays[-MOST:] if len(delays) >= FEWEST else []


def dropped_frames(records: Iterable[Message]) -> int:
    """How many frames never came to the screen, though they had something to show."""
    reports = (
        record.get("args", {}).get("frame_reporter", {})
        for record in records
        if (record.get("name"), record.get("ph")) == ("PipelineReporter", "b")
    )
    return sum(
        report.get("state") == "STATE_DROPPED" and bool(report.get("affects_smoothness"))
        for report in reports
    )


def _is_shown(start: Message) -> bool:
    """Whether all of a frame came to the screen; a forked one is the part of another that was in time."""
    report = start.get("args", {}).get("frame_reporter", {})
    return report.get("state") == "STATE_PRESENTED_ALL" and report.get("frame_type") is None
