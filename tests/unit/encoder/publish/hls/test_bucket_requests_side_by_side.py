"""Requests side by side, each judged by its own connection, and one whose connection was closed."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from onair_crds.contract.program import ProgramStorage
from onair_crds.session_error import SessionError
from onair_encoder.publish.hls.bucket_requests import BucketRequests
from onair_encoder.publish.hls.bytes_taken import BytesTaken

MORE_THAN_KERNELS_HOLD = bytes(32 * 2**20)
SMALL = bytes(200_000)
RESPONSE = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"


class StickingStorage:
    """Takes objects, but reads none that is `stuck`, and closes a connection that is used again on demand."""

    def __init__(self) -> None:
        self.port = 0
        self.stored: list[tuple[str, int]] = []
        """Names and sizes."""
        self.closes_used = False
        self._connections: set[asyncio.Task[None]] = set()

    async def start(self) -> None:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task
        self._connections.add(task)
        used = False
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
                if used and self.closes_used:
                    return
                name = head.split()[1].rpartition("/")[2]
                if name == "stuck":
                    await asyncio.Event().wait()
                size = int(head.partition("content-length:")[2].split()[0])
                self.stored.append((name, len(await reader.readexactly(size))))
                writer.write(RESPONSE)
                used = True
        except (asyncio.IncompleteReadError, ConnectionError):
            return
        finally:
            writer.close()

    async def close(self) -> None:
        self._server.close()
        for each in self._connections:
            each.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)


@pytest.fixture
async def storage() -> AsyncIterator[StickingStorage]:
    storage = StickingStorage()
    await storage.start()
    yield storage
    await storage.close()


@pytest.fixture
def taken() -> BytesTaken:
    return BytesTaken()


@pytest.fixture
async def requests(storage: StickingStorage, taken: BytesTaken) -> AsyncIterator[BucketRequests]:
    keys = {"access_key": "AK", "secret_key": "s3cret"}
    place = ProgramStorage(region="r", bucket="shows", endpoint=f"http://127.0.0.1:{storage.port}", **keys)
    requests = BucketRequests(place, lambda: 0.1, taken=taken)
    yield requests
    await requests.close()


async def put(requests: BucketRequests, name: str, data: bytes) -> None:
    async with requests.request("PUT", name, {}, data) as response:
        assert response.status == 200


async def test_a_connection_that_is_stuck_is_noticed_beside_one_that_is_not(
    storage: StickingStorage, requests: BucketRequests
) -> None:
    stuck = asyncio.create_task(put(requests, "stuck", MORE_THAN_KERNELS_HOLD))
    try:
        async with asyncio.timeout(5):
            while not stuck.done():
                await put(requests, "flowing", SMALL)
    finally:
        stuck.cancel()
    with pytest.raises(SessionError, match="took no bytes"):
        await stuck


async def test_what_a_connection_has_taken_of_an_object_that_is_not_stored_is_known(
    requests: BucketRequests, taken: BytesTaken
) -> None:
    with pytest.raises(SessionError, match="took no bytes"):
        await put(requests, "stuck", MORE_THAN_KERNELS_HOLD)
    assert 0 < taken.total < len(MORE_THAN_KERNELS_HOLD)


async def test_a_connection_that_was_closed_meanwhile_costs_no_object_its_content(
    storage: StickingStorage, requests: BucketRequests
) -> None:
    """The HTTP client itself tries another one, with all of the body."""
    await put(requests, "first", SMALL)
    storage.closes_used = True
    await put(requests, "second", SMALL)
    assert storage.stored == [("first", len(SMALL)), ("second", len(SMALL))]
