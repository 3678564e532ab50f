"""Whether video frames leave. On a slow network WebRTC lets the audio through and holds the video back."""

from __future__ import annotations

from collections import deque

HELD_WINDOW_S, FLOWING_WINDOW_S = 2.0, 1.0
HELD_SHARE, FLOWING_SHARE = 0.5, 0.9
"""Of the frames that are due in these times. A few leave on the slowest network, and show nothing."""
IN_FLIGHT = 10
FIRST_REST_S, LONGEST_REST_S = 15.0, 120.0


class VideoFlow:
    """Judges the totals of frames that were due and that were sent, as they grow."""

    def __init__(self) -> None:
        self._looks: deque[tuple[float, int, int]] = deque()
        self._held_since: float | None = None
        self.dropped = 0
        """Frames that were given up; some are in flight and do not count."""

    def look(self, now: float, due: int, sent: int) -> float:
        """For how many seconds the video has been held back; 0 where it flows or none is due.

        Args:
            now: seconds of a monotonic clock.
        """
        if due - sent >= self.dropped + IN_FLIGHT:
            self.dropped = due - sent
        looks = self._looks
        looks.append((now, due, sent))
        while len(looks) > 2 and looks[1][0] <= now - HELD_WINDOW_S:
            looks.popleft()
        if self._share(FLOWING_WINDOW_S) >= FLOWING_SHARE:
            self._held_since = None
        elif self._held_since is None and self._share(HELD_WINDOW_S) < HELD_SHARE:
            # Where none left at all it began so long ago.
            self._held_since = now - HELD_WINDOW_S * HELD_SHARE
        return 0.0 if self._held_since is None else now - self._held_since

    def _share(self, window_s: float) -> float:
        """Of the frames that became due in that time; 1 where none did, or less time is known."""
        now, due, sent = self._looks[-1]
        earlier = [look for look in self._looks if look[0] <= now - window_s]
        if not earlier or due == earlier[-1][1]:
            return 1.0
        return (sent - earlier[-1][2]) / (due - earlier[-1][1])


class Rejoining:
    """When to rejoin, as the library may hold the video back on a network that has recovered.

    Its estimate of the bandwidth grows with what it sends, and without video that is too
    little. Where the network is still slow each new session disturbs the audio, so the
    next one comes later.
    """

    def __init__(self) -> None:
        self._rest_s = FIRST_REST_S
        self._held_at = float("-inf")

    def due(self, now: float, held_s: float) -> bool:
        """Whether the room is to be joined again now.

        Args:
            now: seconds of a monotonic clock.
            held_s: for how long the video has been held back.
        """
        if not held_s:
            if now - self._held_at > LONGEST_REST_S:
                self._rest_s = FIRST_REST_S
            return False
        self._held_at = now
        if held_s < self._rest_s:
            return False
        self._rest_s = min(2 * self._rest_s, LONGEST_REST_S)
        return True
