"""Bytes of large responses that are under way in this replica, by service: what slow readers may hold."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from onair_api.errors import ResourceExhausted

MAX_BYTES = 268_435_456
"""Of the responses to one service, where no other's are under way; of those to all twice as much."""
LARGE_BYTES = 65_536
"""Of a response that counts; of others a connection's buffer holds as much."""
LITTLE = 8
"""Part of `MAX_BYTES` that keeps no request from being begun."""
RETRY_AFTER_S = 5


class ResponseBytes:
    """A service may have as much under way as is left to all others.

    So one takes half of what there is, two a third each, and there is always some for the next one.
    """

    def __init__(self) -> None:
        self._under_way: Counter[str] = Counter()
        self._all = 0

    def check(self, service_id: str) -> None:
        """Refuses a request before anything is done for it.

        Raises:
            ResourceExhausted: what the service has not read yet takes all that it may.
        """
        present = self._under_way.get(service_id, 0)
        # What others have is no reason to refuse whoever has little
        if present >= max(MAX_BYTES // LITTLE, self._left):
            raise _exhausted()

    @contextmanager
    def sending(self, service_id: str | None, size: int, *, refused: bool) -> Iterator[None]:
        """Counts a response while it is sent.

        Args:
            service_id: None: to anybody, who is not sent much.
            refused: whether it may be: the response to a change is not, as the change is made.

        Raises:
            ResourceExhausted: with it there would be too much.
        """
        if service_id is None or size < LARGE_BYTES:
            yield
            return
        present = self._under_way.get(service_id, 0)
        left = self._left - size
        if refused and ((present and present + size > left) or (self._all and left < 0)):
            raise _exhausted()
        self._under_way[service_id] += size
        self._all += size
        try:
            yield
        finally:
            self._all -= size
            self._under_way[service_id] -= size
            if not self._under_way[service_id]:
                del self._under_way[service_id]

    @property
    def _left(self) -> int:
        return 2 * MAX_BYTES - self._all


def _exhausted() -> ResourceExhausted:
    return ResourceExhausted(
        f"responses to this service that are not read yet may take {MAX_BYTES} bytes, and less while others "
        f"have such, too; read them, or try again in {RETRY_AFTER_S} s",
        retry_after_s=RETRY_AFTER_S,
    )
