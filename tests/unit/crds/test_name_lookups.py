"""Names whose name servers are silent hold up nobody but their like."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections import Counter
from collections.abc import Iterator

import pytest
from tests.support.waiting import until

from onair_crds.name_lookups import AT_A_TIME, NameLookups, SocketAddress, name_lookups

ADDRESS = "192.0.2.1"
FOUND: list[SocketAddress] = [(socket.AF_INET, (ADDRESS, 80))]


class NameServers:
    """Respond at once, but for names that begin with `silent`."""

    def __init__(self) -> None:
        self.asked: Counter[str] = Counter()
        self.respond = threading.Event()

    def getaddrinfo(self, host: str, port: int, *_: object, flags: int = 0, **__: object) -> list[object]:
        if flags & socket.AI_NUMERICHOST and host != ADDRESS:
            raise socket.gaierror(socket.EAI_NONAME, "a name")
        if host != ADDRESS:
            self.asked[host] += 1
        if host.startswith("silent"):
            assert self.respond.wait(20)
        if host.endswith("unknown"):
            raise socket.gaierror(socket.EAI_NONAME, "unknown")
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (ADDRESS, port))]


@pytest.fixture
def servers(monkeypatch: pytest.MonkeyPatch) -> Iterator[NameServers]:
    servers = NameServers()
    monkeypatch.setattr(socket, "getaddrinfo", servers.getaddrinfo)
    yield servers
    servers.respond.set()


async def times_out(lookups: NameLookups, name: str) -> None:
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.02):
            await lookups.addresses(name, 80)


async def found(lookups: NameLookups, name: str) -> list[SocketAddress]:
    async with asyncio.timeout(5):
        return await lookups.addresses(name, 80)


async def test_a_name_has_one_lookup_at_a_time_whoever_gives_up(servers: NameServers) -> None:
    lookups = NameLookups()
    for _ in range(3):
        await times_out(lookups, "silent")
    both = asyncio.gather(found(lookups, "silent"), found(lookups, "silent"))
    await asyncio.sleep(0)
    servers.respond.set()
    assert [*await both] == [FOUND, FOUND]
    assert servers.asked["silent"] == 1
    assert await found(lookups, "silent") == FOUND
    assert servers.asked["silent"] == 2


async def test_names_beyond_the_bound_wait_and_are_forgotten_with_whoever_asked(servers: NameServers) -> None:
    lookups = NameLookups(at_a_time=2)
    for name in ("silent-1", "silent-2", "silent-3", "other"):
        await times_out(lookups, name)
    assert set(servers.asked) == {"silent-1", "silent-2"}
    assert await found(lookups, ADDRESS) == FOUND, "there is nothing to look up"
    servers.respond.set()
    assert await found(lookups, "other") == FOUND
    assert "silent-3" not in servers.asked


async def test_a_name_that_was_slow_waits_only_for_its_like(servers: NameServers) -> None:
    lookups = NameLookups(at_a_time=2, slow_s=0.01)
    names = ("silent-1", "silent-2")
    for name in names:
        await times_out(lookups, name)
    servers.respond.set()
    await until(lambda: not lookups._running, "their lookups end")
    servers.respond.clear()
    for name in names:
        await times_out(lookups, name)
    assert await found(lookups, "other") == FOUND
    assert servers.asked == {"silent-1": 2, "silent-2": 2, "other": 1}


async def test_the_loops_own_lookups_do_not_wait(servers: NameServers) -> None:
    for n in range(AT_A_TIME):
        await times_out(name_lookups(), f"silent-{n}")
    async with asyncio.timeout(5):
        assert await asyncio.get_running_loop().getaddrinfo("facade", 80)


async def test_a_name_that_is_unknown_raises_for_everybody(servers: NameServers) -> None:
    lookups = NameLookups()
    both = await asyncio.gather(*(found(lookups, "unknown") for _ in range(2)), return_exceptions=True)
    assert [type(each) for each in both] == [socket.gaierror] * 2


async def test_without_a_thread_a_name_cannot_be_resolved(
    servers: NameServers, monkeypatch: pytest.MonkeyPatch
) -> None:
    lookups = NameLookups(at_a_time=1)
    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", _fails)
        for _ in range(2):
            with pytest.raises(OSError, match="new thread"):
                await found(lookups, "other")
    assert await found(lookups, "other") == FOUND


def _fails(_: threading.Thread) -> None:
    raise RuntimeError("can't start new thread")
