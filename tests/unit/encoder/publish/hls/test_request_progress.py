"""How long a request may take, by the bytes of its own connection."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from tests.support.delivery.hand_clock import HandClock

from onair_crds.session_error import SessionError
from onair_encoder.publish.hls import request_progress
from onair_encoder.publish.hls.request_progress import LEAST_S, LOOK_S, RequestProgress, ResponseTimeout

FROZEN_S = 3600.0
LOOKS = round(LEAST_S / LOOK_S)
OFTEN_S = 0.02
"""A timeout so short that it is looked at often; what counts is the least one."""


def test_a_storage_that_is_slow_to_respond_is_given_longer_and_longer() -> None:
    response_timeout, limits = ResponseTimeout(), []
    for _ in range(8):
        limits.append(response_timeout.limit_s(1.0))
        response_timeout.expired(limits[-1])
    assert limits == [1, 2, 4, 8, 16, 32, 60, 60]


def test_the_timeout_follows_what_is_usual() -> None:
    response_timeout = ResponseTimeout()
    response_timeout.responded(5.0)
    assert response_timeout.limit_s(1.0) == 10
    for _ in range(60):
        response_timeout.responded(0.1)
    assert response_timeout.limit_s(1.0) == 1


class WatchedRequest:
    """A request that is sent, and whose response the test gives."""

    def __init__(self, left: int) -> None:
        self.clock = HandClock()
        self.taken: list[int] = []
        self.progress = RequestProgress(
            "a.example", lambda: OFTEN_S, ResponseTimeout(), self.clock, self.taken.append
        )
        self.progress.connected(None)
        self.progress.left(left)
        self.request: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self.watching = asyncio.create_task(self.progress.response(self.request))


async def test_a_process_that_was_frozen_does_not_blame_the_storage() -> None:
    watched = WatchedRequest(left=0)
    await watched.clock.passes(FROZEN_S)
    watched.request.set_result(None)
    async with asyncio.timeout(10):
        await watched.watching


@pytest.mark.parametrize(
    ("left", "why"), [(100, "took no bytes for 1000 ms"), (0, "gave no response for 1000 ms")]
)
async def test_a_request_that_stands_still_is_not_waited_for(left: int, why: str) -> None:
    watched = WatchedRequest(left)
    await watched.clock.passes(0)
    for _ in range(LOOKS):
        await watched.clock.passes(LOOK_S)
    watched.clock.advance(LOOK_S)
    with pytest.raises(SessionError, match=why):
        async with asyncio.timeout(10):
            await watched.watching


async def test_bytes_in_flight_are_progress_for_as_long_as_their_number_changes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    held = [1000]
    look: Callable[[object], int] = lambda _: held[0]  # noqa: E731
    monkeypatch.setattr(request_progress, "unacknowledged", look)
    watched = WatchedRequest(left=0)
    watched.progress.connected(Held())
    for _ in range(3 * LOOKS):
        held[0] -= 1
        await watched.clock.passes(LOOK_S)
    for _ in range(LOOKS):
        await watched.clock.passes(LOOK_S)
    watched.clock.advance(LOOK_S)
    with pytest.raises(SessionError, match="took no bytes"):
        async with asyncio.timeout(10):
            await watched.watching


async def test_bytes_count_as_taken_once_they_are_acknowledged(monkeypatch: pytest.MonkeyPatch) -> None:
    held = [0]
    look: Callable[[object], int] = lambda _: held[0]  # noqa: E731
    monkeypatch.setattr(request_progress, "unacknowledged", look)
    watched = WatchedRequest(left=1000)
    watched.progress.connected(Held())
    await watched.clock.passes(0)
    for left, in_flight in ((400, 500), (400, 100), (0, 100)):
        held[0] = in_flight
        watched.progress.left(left)
        await watched.clock.passes(0)
    watched.request.set_result(None)
    await watched.watching
    assert sorted(set(watched.taken)) == [0, 100, 500, 900]


class Held:
    def fileno(self) -> int:
        return 0
