"""A gap is one of the media, not of who looks for it."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest
from tests.support import receiver as receiver_module
from tests.support.receiver import GapMonitor

STALL_S = 0.4


class CountingServer:
    """Counts a byte each 10 ms, but for a pause; may take long to say so."""

    def __init__(self, paused: Callable[[float], bool], stalls_at: int = -1) -> None:
        self._began, self._paused, self._stalls_at = time.monotonic(), paused, stalls_at
        self._asked = self._bytes = 0

    def received_bytes(self, _: str) -> int:
        self._asked += 1
        if self._asked == self._stalls_at:
            time.sleep(STALL_S)
        now_s = time.monotonic() - self._began
        if not self._paused(now_s):
            self._bytes = round(now_s * 100) + 1
        return self._bytes

    def publishers(self, _: str) -> list[dict[str, str]]:
        return []


def watched(server: CountingServer, monkeypatch: pytest.MonkeyPatch) -> GapMonitor:
    monkeypatch.setattr(receiver_module, "ReceiverClient", lambda: server)
    with GapMonitor(server, "live/a") as gap:  # type: ignore[arg-type]
        time.sleep(1.2)
    return gap


def test_a_response_that_comes_late_is_no_gap(monkeypatch: pytest.MonkeyPatch) -> None:
    gap = watched(CountingServer(lambda _: False, stalls_at=10), monkeypatch)
    assert gap.certain_s < STALL_S / 2 < STALL_S < gap.longest_s


def test_bytes_that_do_not_come_are_one(monkeypatch: pytest.MonkeyPatch) -> None:
    gap = watched(CountingServer(lambda now_s: 0.3 < now_s < 0.9), monkeypatch)
    assert gap.certain_s > STALL_S
