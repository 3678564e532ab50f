"""Whether the picture leaves. On a narrow line WebRTC lets the sound through and holds the picture back."""

from __future__ import annotations

from collections import deque

WINDOW_S = 2.0
HELD_SHARE, FLOWING_SHARE = 0.5, 0.9
"""Of the pictures that are due. A few leave on the narrowest line, and show nothing."""
ON_THEIR_WAY = 10
FIRST_REST_S, LONGEST_REST_S = 15.0, 120.0


class PictureFlow:
    """Judges the totals of pictures that were due and that were sent, as they grow."""

    def __init__(self) -> None:
        self._looks: deque[tuple[float, int, int]] = deque()
        self._held_since: float | None = None
        self.left_out = 0
        """Pictures that were given up; some are on their way and do not count."""

    def look(self, now: float, due: int, sent: int) -> float:
        """For how many seconds the picture has been held back; 0 where it flows or none is due.

        Args:
            now: seconds of a monotonic clock.
        """
        if due - sent >= self.left_out + ON_THEIR_WAY:
            self.left_out = due - sent
        looks = self._looks
        looks.append((now, due, sent))
        while len(looks) > 2 and looks[1][0] <= now - WINDOW_S:
            looks.popleft()
        since, due_before, sent_before = looks[0]
        if now - since >= WINDOW_S:
            wanted, left = due - due_before, sent - sent_before
            if left >= wanted * FLOWING_SHARE:
                self._held_since = None
            elif left < wanted * HELD_SHARE and self._held_since is None:
                self._held_since = since
        return 0.0 if self._held_since is None else now - self._held_since


class Rejoining:
    """When to begin the session anew, as the library may hold a picture back on a line that is wide again.

    Its estimate of the line grows by what it sends, and without a picture that is too
    little. Where the line is still narrow each new session disturbs the sound, so the
    next one comes later.
    """

    def __init__(self) -> None:
        self._rest_s = FIRST_REST_S
        self._held_at = float("-inf")

    def due(self, now: float, held_s: float) -> bool:
        """
        Args:
            now: seconds of a monotonic clock.
            held_s: for how long the picture has been held back.
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
