"""Streams go on flowing while nobody looks at them."""

from __future__ import annotations

import asyncio
import time
from typing import Any, cast

import pytest

from onair_crds.contract.ingest_gateway import StreamState
from onair_ingest.mediamtx.records import Path
from onair_ingest.streams import streams as streams_module
from onair_ingest.streams.connection_identity import Identities
from onair_ingest.streams.streams import Streams

FAR_FUTURE_S = 1000.0


class GrowingMediaMtx:
    """MediaMTX with one publisher, whose media grows with each look, as long as it responds."""

    def __init__(self) -> None:
        self.looks, self.busy_s = 0, 0.0
        """How often it was looked at, and what of the CPU a look takes."""
        self.looked = asyncio.Semaphore(0)
        self.responds = asyncio.Event()
        self.responds.set()

    async def paths(self) -> list[Path]:
        await asyncio.sleep(0.001)  # as every request over a network, it takes more than a turn
        await self.responds.wait()
        until_s = time.thread_time() + self.busy_s
        while time.thread_time() < until_s:
            pass
        self.looks += 1
        self.looked.release()
        return [path(self.looks * 1000)]


def path(received: int) -> Path:
    source = {"type": "rtmpConn", "id": "c1"}
    return Path.model_validate(
        {"name": "live/key", "available": True, "source": source, "inboundBytes": received}
    )


class SuspendableClock:
    """The monotonic clock, as a process sees it that was stopped now and then."""

    def __init__(self) -> None:
        self.stopped_s = 0.0

    def monotonic(self) -> float:
        return time.monotonic() + self.stopped_s

    def thread_time(self) -> float:
        return time.thread_time()


class FollowedStreams:
    """Streams that are looked at, and all that is told of them."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.clock, self.server = SuspendableClock(), GrowingMediaMtx()
        monkeypatch.setattr(streams_module, "time", self.clock)
        server = cast(Any, self.server)
        identities = Identities(server)
        identities.admitted("c1", "s", "203.0.113.40")
        self.streams = Streams(server, identities, poll_interval_s=0.05, silent_after_s=FAR_FUTURE_S)
        self.told: list[StreamState] = []
        self.failed = asyncio.Event()
        told = self.streams.tell
        monkeypatch.setattr(self.streams, "tell", lambda states: told(self._noted(list(states))))

    def _noted(self, states: list[StreamState]) -> list[StreamState]:
        self.told += states
        if any(state.error for state in states):
            self.failed.set()
        return states

    async def looked_at(self, times: int) -> None:
        async with asyncio.timeout(10):
            for _ in range(times):
                await self.server.looked.acquire()


async def test_a_process_that_stood_still_does_not_take_its_server_for_hung(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    followed = FollowedStreams(monkeypatch)
    running = asyncio.create_task(followed.streams.run())
    await followed.looked_at(3)
    followed.clock.stopped_s += 10
    await followed.looked_at(3)
    running.cancel()
    assert not followed.failed.is_set(), followed.told
    assert followed.told[-1].flowing


async def test_a_server_that_does_not_respond_while_it_is_asked_is_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    followed = FollowedStreams(monkeypatch)
    running = asyncio.create_task(followed.streams.run())
    await followed.looked_at(3)
    followed.server.responds.clear()
    async with asyncio.timeout(10):
        await followed.failed.wait()
    running.cancel()
    assert followed.told[-1].error == "the ingest server does not respond"


async def test_it_rests_as_long_as_a_look_keeps_it_busy(monkeypatch: pytest.MonkeyPatch) -> None:
    """With thousands of streams, who looks without a rest admits nobody and serves no playlist."""
    followed = FollowedStreams(monkeypatch)
    followed.server.busy_s = 0.1
    running = asyncio.create_task(followed.streams.run())
    await followed.looked_at(1)
    cpu_s, began_s = time.thread_time(), time.monotonic()
    await followed.looked_at(4)
    busy_s, took_s = time.thread_time() - cpu_s, time.monotonic() - began_s
    running.cancel()
    assert busy_s < 0.65 * took_s


async def test_what_the_server_has_received_of_a_stream_is_known_while_it_is_published(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    followed = FollowedStreams(monkeypatch)
    assert followed.streams.inbound_bytes("s") is None
    for received in (1000, 2000):
        await followed.streams.look()
        assert followed.streams.inbound_bytes("s") == received
