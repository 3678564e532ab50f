"""How long what waits is stored after the end of a broadcast, or of a destination."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass

from onair_encoder.publish.hls.bytes_taken import BytesTaken
from onair_encoder.publish.hls.request_progress import Clock
from onair_encoder.publish.supplied_destination import SuppliedDestination

CLOSING_S = 2.0
"""Of the time to end, what is left for closing the playlist."""
LOOK_S = 0.1


@dataclass(frozen=True)
class DrainTerms:
    least_s: float
    longest_s: float
    still_s: float
    """Between the two it continues for as long as the storage takes something so often."""

    def is_over(self, passed_s: float, still_s: float, *, hurry: bool) -> bool:
        """Whether no more is to be stored.

        Args:
            passed_s: since the stop.
            still_s: since something was stored, or bytes of it were taken.
            hurry: the pod is being deleted, so there is only the least time.
        """
        if passed_s >= self.longest_s - CLOSING_S:
            return True
        return passed_s >= self.least_s - CLOSING_S and (hurry or still_s >= self.still_s)


async def drain(
    destination: SuppliedDestination,
    taken: BytesTaken,
    closing: asyncio.Event,
    terms: DrainTerms,
    clock: Clock = time.monotonic,
) -> None:
    """Counts the time from the stop on; sets `closing` when it is nearly over, and returns when it is over.

    Args:
        taken: of what is being stored: across a slow network a large segment alone takes minutes.
    """
    stopped_at = moved_at = clock()
    stored = destination.state.bytes_sent, taken.total
    while not terms.is_over(clock() - stopped_at, clock() - moved_at, hurry=destination.hurry):
        await asyncio.sleep(LOOK_S)
        if (now_stored := (destination.state.bytes_sent, taken.total)) != stored:
            stored, moved_at = now_stored, clock()
    closing.set()
    await asyncio.sleep(CLOSING_S)
