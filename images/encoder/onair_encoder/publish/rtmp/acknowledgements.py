"""What a server acknowledges by RTMP, and how far its TCP may be ahead (Adobe RTMP 1.0, 5.4.3). Pure."""

from __future__ import annotations

from collections import deque

from onair_encoder.publish.rtmp.handshake import HANDSHAKE_BYTES

HABIT = 3
"""So many steps of half the window show that a server acknowledges as it goes; others may be formalities."""
REMEMBERED = 8
SLACK_BYTES = 2 * HANDSHAKE_BYTES + 1 + 1024
"""Some servers count the handshake among the bytes that they acknowledge, some do not."""


class Acknowledgements:
    """Learns how many bytes a server takes between two acknowledgements, whatever it was asked for.

    Progress is what its TCP acknowledges for as long as its own acknowledgement is not overdue: between
    two of them there is nothing else to see, and a server that has hung takes no more than a little.
    """

    def __init__(self, window: int) -> None:
        """
        Args:
            window: the number of bytes after which it is asked to acknowledge.
        """
        self._window = window
        self._last_total = 0
        self._count = 0
        self._steps: deque[int] = deque(maxlen=REMEMBERED)
        self.acknowledged = 0

    def take(self, total: int, written: int) -> None:
        """Takes a server's count of received bytes.

        Args:
            total: the server's count, of 32 bits; some servers begin it again earlier.
            written: bytes that were given to the connection so far.
        """
        step = (total - self._last_total) & 0xFFFFFFFF
        if step == 0:
            return
        most = written + SLACK_BYTES - self.acknowledged
        if step <= most:
            self._steps.append(step)
        # A count that began again looks like a leap: all that was given is taken as acknowledged
        self.acknowledged += min(step, most)
        self._last_total = total
        if step >= self._window / 2:
            self._count += 1

    @property
    def regular(self) -> bool:
        return self._count >= HABIT

    @property
    def _lead_bytes(self) -> int:
        """How many bytes an acknowledgement may be behind: half as much again as is usual."""
        return max(self._window, *self._steps, 0) * 3 // 2 + SLACK_BYTES

    def is_due(self, written: int) -> bool:
        """Whether the server ought to have acknowledged more."""
        return self.regular and written - self.acknowledged >= self._lead_bytes

    def progress(self, by_tcp: int) -> int:
        """Bytes that the server has taken; never less than before.

        Args:
            by_tcp: bytes that its TCP has acknowledged.
        """
        if not self.regular:
            return by_tcp
        return max(self.acknowledged, min(by_tcp, self.acknowledged + self._lead_bytes))
