"""Bytes of large responses that are under way in this replica, by service: what slow readers may hold."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from onair_api.errors import ResourceExhausted

MAX_BYTES = 268_435_456
"""Of the responses to one service's tokens and API keys; several such services fill a replica's memory."""
LARGE_BYTES = 65_536
"""Of a response that counts; of others a connection's buffer holds as much."""
RETRY_AFTER_S = 5


class ResponseBytes:
    def __init__(self) -> None:
        self._under_way: Counter[str] = Counter()

    def check(self, service_id: str) -> None:
        """Refuses a request before anything is done for it.

        Raises:
            ResourceExhausted: what the service has not read yet takes all that it may.
        """
        if self._under_way[service_id] >= MAX_BYTES:
            raise _exhausted()

    @contextmanager
    def sending(self, service_id: str | None, size: int, *, refused: bool) -> Iterator[None]:
        """While a response is sent.

        Args:
            service_id: None: to anybody, who is not sent much.
            refused: whether it may be: the response to a change is not, as the change is made.

        Raises:
            ResourceExhausted: with it there would be too much.
        """
        if service_id is None or size < LARGE_BYTES:
            yield
            return
        present = self._under_way[service_id]
        if refused and present and present + size > MAX_BYTES:
            raise _exhausted()
        self._under_way[service_id] += size
        try:
            yield
        finally:
            self._under_way[service_id] -= size
            if not self._under_way[service_id]:
                del self._under_way[service_id]


def _exhausted() -> ResourceExhausted:
    return ResourceExhausted(
        f"responses to this service that are not read yet may take {MAX_BYTES} bytes; read them, or try "
        f"again in {RETRY_AFTER_S} s",
        retry_after_s=RETRY_AFTER_S,
    )
