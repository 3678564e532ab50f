"""A pull is over when its connection ends or brings no media, costs nothing in between, and pauses longer."""

from __future__ import annotations

import asyncio
import errno
import os
import ssl
from typing import Any, cast
from urllib.parse import urlsplit

import pytest
from tests.support.control_plane import free_port
from tests.support.waiting import until

from onair_crds.contract.inside_addresses import InsideRules
from onair_ingest.mediamtx.client import MediaMtxUnavailable
from onair_ingest.pulls import pull_task as pull_module
from onair_ingest.pulls.address_guard import AddressGuard
from onair_ingest.pulls.pull_task import OFTEN, Pauses, PullTask
from onair_ingest.pulls.retry_turns import RetryTurns

INSIDE = "127.0.0.1 is at an address inside this installation, which is not allowed"


class PullMediaMtx:
    """MediaMTX, as far as a pull asks it."""

    def __init__(self) -> None:
        self.path: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self.responds = True
        self.made = self.removed = 0

    async def set_path(self, name: str, source: str) -> None:
        if not self.responds:
            raise MediaMtxUnavailable("in a test")
        self.made += 1
        if not self.path.done():
            self.path.set_result(source)

    async def delete_path(self, name: str) -> None:
        self.removed += 1


class Pulled:
    """A pull from an address inside, whose media is what a test says."""

    def __init__(self, port: int = 1, pauses: Pauses | None = None, *, refused: bool = True) -> None:
        """
        Args:
            refused: whether addresses inside are.
        """
        self.looks = 0
        self.flowing = False
        self.server, self.turns = PullMediaMtx(), RetryTurns()
        self._failed: asyncio.Queue[tuple[str, int]] = asyncio.Queue()
        self.pull = PullTask(
            "pull-relay",
            f"rtmp://127.0.0.1:{port}/live/a",
            cast(Any, self.server),
            AddressGuard(InsideRules(refused=refused)),
            ssl.create_default_context(),
            pauses or Pauses(60.0, 60.0),
            self.turns,
            flows=self._flows,
            failed=lambda reason, next_attempt_s: self._failed.put_nowait((reason, next_attempt_s)),
        )
        self._task = asyncio.create_task(self.pull.run())

    def _flows(self) -> bool:
        self.looks += 1
        return self.flowing

    async def fails(self, within_s: float = 5.0) -> tuple[str, int]:
        """Why it failed, and within how many seconds it is to be tried again; it is not."""
        async with asyncio.timeout(within_s):
            failed = await self._failed.get()
        self._task.cancel()
        return failed

    async def reasons(self, count: int) -> list[str]:
        """Why it fails so many times in a row, from now on."""
        async with asyncio.timeout(5):
            return [(await self._failed.get())[0] for _ in range(count)]

    async def end(self) -> None:
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)


async def test_a_pull_without_media_is_not_looked_at_before_it_is_over(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(pull_module, "NO_MEDIA_S", 0.6)
    pulled = Pulled()
    assert await pulled.fails() == ("no media arrived from 127.0.0.1:1 for 0.6 s", 60)
    assert pulled.looks <= 3


async def test_the_time_without_media_begins_when_it_stops(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pull_module, "NO_MEDIA_S", 0.2)
    pulled = Pulled()
    pulled.flowing = True
    await pulled.server.path
    with pytest.raises(TimeoutError):
        await pulled.fails(within_s=0.5)
    pulled.flowing = False
    pulled.pull.changed()
    began_s = asyncio.get_running_loop().time()
    assert await pulled.fails() == ("no media arrived from 127.0.0.1:1 for 0.2 s", 60)
    assert asyncio.get_running_loop().time() - began_s > 0.15
    assert pulled.looks <= 4


async def test_a_connection_that_ends_is_noticed_at_once() -> None:
    pulled = Pulled()
    pulled.flowing = True
    address = urlsplit(await pulled.server.path)
    _, writer = await asyncio.open_connection(address.hostname, address.port)
    assert await pulled.fails() == (INSIDE, 60)
    writer.close()


@pytest.mark.parametrize(
    ("failures", "most_s"), [(1, 1), (2, 2), (3, 4), (5, 16), (6, 30), (7, 30), (1025, 30), (10**6, 30)]
)
def test_pauses_double_up_to_a_limit_however_often_it_fails(failures: int, most_s: float) -> None:
    pauses = Pauses(1.0, 30.0)
    assert pauses.most_s(failures) == most_s
    assert pauses.after(failures, 0.0) == most_s / 2
    assert pauses.after(failures, 1.0) == most_s


async def test_a_pull_is_tried_again_after_a_want_of_sockets(monkeypatch: pytest.MonkeyPatch) -> None:
    async def no_socket(*_: object, **__: object) -> None:
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))

    monkeypatch.setattr(asyncio, "start_server", no_socket)
    assert await Pulled().fails() == ("the ingest gateway opens no connection: Too many open files", 60)


NO_MEDIA = "no media arrived from 127.0.0.1:{} for 0.01 s"
QUICK = Pauses(0.001, 0.001)


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pull_module, "NO_MEDIA_S", 0.01)


@pytest.mark.usefixtures("quick")
async def test_a_server_that_takes_no_connection_costs_the_ingest_server_nothing() -> None:
    port = free_port()
    pulled = Pulled(port, QUICK, refused=False)
    refused = f"127.0.0.1:{port} refused the connection"
    assert await pulled.reasons(6) == [NO_MEDIA.format(port), *[refused] * 5]
    assert (pulled.server.made, pulled.server.removed) == (1, 1)
    server = await asyncio.start_server(lambda *_: None, "127.0.0.1", port)
    await until(lambda: pulled.server.made > 1, "it is pulled once somebody is there")
    await pulled.end()
    server.close()


@pytest.mark.usefixtures("quick")
async def test_who_keeps_failing_waits_for_its_turn_but_not_after_the_ingest_server_was_away() -> None:
    server = await asyncio.start_server(lambda *_: None, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    pulled = Pulled(port, QUICK, refused=False)
    async with pulled.turns.turn():
        assert await pulled.reasons(OFTEN) == [NO_MEDIA.format(port)] * OFTEN
        with pytest.raises(TimeoutError):
            await pulled.fails(within_s=0.1)
        assert pulled.server.made == OFTEN
    await pulled.end()

    pulled = Pulled(port, QUICK, refused=False)
    async with pulled.turns.turn():
        await pulled.reasons(OFTEN - 1)
        pulled.server.responds = False
        assert set(await pulled.reasons(OFTEN)) == {"the ingest server does not respond"}
        pulled.server.responds = True
        assert await pulled.reasons(OFTEN) == [NO_MEDIA.format(port)] * OFTEN
    await pulled.end()
    server.close()
