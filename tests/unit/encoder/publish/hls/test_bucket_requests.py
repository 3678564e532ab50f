"""Responses that come slowly, and those that stop coming."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest
from aiohttp import web
from tests.support.delivery.hand_clock import HandClock
from tests.support.loopback_server import on_loopback
from tests.support.waiting import until

from onair_crds.contract.program import ProgramStorage
from onair_crds.session_error import SessionError
from onair_encoder.publish.hls import request_progress
from onair_encoder.publish.hls.bucket_requests import BucketRequests
from onair_encoder.publish.hls.request_progress import LEAST_S, LOOK_S

PARTS = 8
LOOKS = round(LEAST_S / LOOK_S)
"""In the time that a response may stand still."""
OFTEN_S = 0.02
"""A timeout so short that it is looked at often; what counts is the least one."""


class PartwiseStorage:
    """Gives a part of an object at a time."""

    def __init__(self) -> None:
        self.endpoint = ""
        self._parts = asyncio.Semaphore(0)
        self.over = asyncio.Event()

    async def respond(self, request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        for part in range(PARTS):
            await self._parts.acquire()
            await response.write(b"%d" % part)
        await self.over.wait()
        return response

    def give(self) -> None:
        self._parts.release()


@pytest.fixture
async def storage() -> AsyncIterator[PartwiseStorage]:
    storage = PartwiseStorage()
    application = web.Application()
    application.router.add_get("/{path:.*}", storage.respond)
    async with on_loopback(application, shutdown_timeout_s=1) as storage.endpoint:
        yield storage
        storage.over.set()


class Reading:
    """One response that is being read, by a clock that stands still but for what a test lets pass."""

    def __init__(self, storage: PartwiseStorage) -> None:
        keys = {"access_key": "AK", "secret_key": "s3cret"}
        place = ProgramStorage(region="r", bucket="shows", endpoint=storage.endpoint, **keys)
        self.clock = HandClock()
        self.read = bytearray()
        self._requests = BucketRequests(place, lambda: OFTEN_S, self.clock)
        self.task = asyncio.create_task(self._read())

    async def _read(self) -> None:
        async with self._requests.request("GET", "an-object", {}) as response:
            while more := await response.read(1):
                self.read += more

    async def until(self, count: int) -> None:
        await until(lambda: len(self.read) >= count, f"{count} bytes are read", 10, poll_s=0.001)

    async def close(self) -> None:
        self.task.cancel()
        await asyncio.gather(self.task, return_exceptions=True)
        await self._requests.close()


@pytest.fixture
async def reading(storage: PartwiseStorage) -> AsyncIterator[Reading]:
    reading = Reading(storage)
    yield reading
    await reading.close()


async def test_an_object_may_take_long_as_long_as_bytes_come(
    storage: PartwiseStorage, reading: Reading
) -> None:
    """As the playlist of a long recording, over a slow network: who cannot read it cannot take over."""
    for part in range(1, PARTS + 1):
        storage.give()
        await reading.until(part)
        for _ in range(LOOKS - 1):
            await reading.clock.passes(LOOK_S)
    storage.over.set()
    await reading.task
    assert reading.read == b"01234567"


async def test_an_object_that_stops_coming_is_not_waited_for(
    storage: PartwiseStorage, reading: Reading
) -> None:
    for part in range(1, PARTS // 2):
        storage.give()
        await reading.until(part)
    await reading.clock.passes(0)
    for _ in range(LOOKS):
        await reading.clock.passes(LOOK_S)
    reading.clock.advance(LOOK_S)
    with pytest.raises(SessionError, match="did not end its response"):
        async with asyncio.timeout(10):
            await reading.task


async def test_an_object_that_comes_a_byte_at_a_time_for_ever_is_not_waited_for(
    storage: PartwiseStorage, reading: Reading, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(request_progress, "LONGEST_READ_S", 3 * LOOK_S)
    for part in range(1, 4):
        storage.give()
        await reading.until(part)
        await reading.clock.passes(LOOK_S)
    reading.clock.advance(LOOK_S)
    storage.give()
    with pytest.raises(SessionError, match="did not end its response within"):
        async with asyncio.timeout(10):
            await reading.task
