"""No kind of destination connects to an address inside, whatever name leads there."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator
from ipaddress import ip_network
from typing import Any

import pytest

from onair_crds.contract.inside_addresses import InsideRules
from onair_crds.contract.program import ProgramStorage
from onair_crds.contract.push_addresses import RtmpAddress, SrtAddress
from onair_crds.session_error import SessionError
from onair_encoder.publish.hls.bucket import Bucket
from onair_encoder.publish.rtmp.output import open_streams
from onair_encoder.publish.srt.connection import SrtConnection

HOSTS = ["localhost", "127.0.0.1", "2130706433"]


class ConnectionCounter:
    """Counts connections to any address of this machine."""

    def __init__(self) -> None:
        self.at: list[str] = []
        """The addresses that they were made to."""

    @property
    def connections(self) -> int:
        return len(self.at)

    async def start(self) -> None:
        self._server = await asyncio.start_server(self._take, "0.0.0.0", 0)
        self.port = self._server.sockets[0].getsockname()[1]

    def _take(self, _: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.at.append(writer.get_extra_info("sockname")[0])
        writer.close()

    def close(self) -> None:
        self._server.close()


@pytest.fixture
async def server() -> AsyncIterator[ConnectionCounter]:
    server = ConnectionCounter()
    await server.start()
    yield server
    server.close()


@pytest.mark.parametrize("host", HOSTS)
async def test_rtmp_connects_to_nothing_inside(server: ConnectionCounter, host: str) -> None:
    address = RtmpAddress.of(f"rtmp://{host}:{server.port}/live", "key")
    with pytest.raises(SessionError, match="inside this installation") as refused:
        await open_streams(address, InsideRules())
    assert refused.value.permanent
    assert "key" not in str(refused.value)
    _, writer = await open_streams(address, InsideRules(allowed_hosts=(f"{host}:{server.port}",)))
    writer.close()
    await writer.wait_closed()
    assert server.connections == 1


@pytest.mark.parametrize("host", HOSTS)
async def test_srt_connects_to_nothing_inside(host: str) -> None:
    connection = SrtConnection(SrtAddress.of(f"srt://{host}:9", "key"), None, 100, InsideRules())
    with pytest.raises(SessionError, match="inside this installation"):
        await connection.open()


@pytest.mark.parametrize("host", HOSTS)
async def test_storages_inside_are_sent_nothing(server: ConnectionCounter, host: str) -> None:
    await put(f"http://{host}:{server.port}", InsideRules(), "inside this installation")
    assert server.connections == 0


class ChangingName:
    """A name that leads to an address that is allowed when it is asked for first, and inside from then on."""

    FIRST, AFTERWARDS = "127.0.0.2", "127.0.0.1"
    RULES = InsideRules(allowed_ranges=(ip_network(FIRST),))

    def __init__(self) -> None:
        self.asked = 0

    def getaddrinfo(self, host: str, port: int, *_: object, flags: int = 0, **__: object) -> list[Any]:
        if host == NAME and flags & socket.AI_NUMERICHOST:
            raise socket.gaierror(socket.EAI_NONAME, "not an address")
        if host not in (NAME, self.FIRST):
            raise socket.gaierror(socket.EAI_NONAME, "unknown")
        address = self.FIRST if host == self.FIRST or not self.asked else self.AFTERWARDS
        self.asked += host == NAME
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port))]


NAME = "media.example"


@pytest.fixture
async def changing(monkeypatch: pytest.MonkeyPatch) -> ChangingName:
    name = ChangingName()
    monkeypatch.setattr(socket, "getaddrinfo", name.getaddrinfo)
    return name


async def test_rtmp_connects_to_the_address_that_was_judged(
    changing: ChangingName, server: ConnectionCounter
) -> None:
    address = RtmpAddress.of(f"rtmp://{NAME}:{server.port}/live", "key")
    _, writer = await open_streams(address, changing.RULES)
    assert writer.get_extra_info("peername")[0] == changing.FIRST
    writer.close()
    assert changing.asked == 1
    with pytest.raises(SessionError, match="inside this installation"):
        await open_streams(address, changing.RULES)


async def test_srt_sends_to_the_address_that_was_judged(changing: ChangingName) -> None:
    connection = SrtConnection(SrtAddress.of(f"srt://{NAME}:9", "key"), None, 100, changing.RULES)
    assert await connection._addresses() == [(socket.AF_INET, changing.FIRST, 9)]
    with pytest.raises(SessionError, match="inside this installation"):
        await connection._addresses()


async def test_storages_are_sent_to_the_address_that_was_judged(
    changing: ChangingName, server: ConnectionCounter
) -> None:
    await put(f"http://{NAME}:{server.port}", changing.RULES)
    assert set(server.at) == {changing.FIRST}
    await put(f"http://{NAME}:{server.port}", changing.RULES, "inside this installation")
    assert set(server.at) == {changing.FIRST}


async def test_a_storage_that_redirects_is_not_followed(server: ConnectionCounter) -> None:
    asked = 0

    async def redirect(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal asked
        asked += 1
        await reader.readuntil(b"\r\n\r\n")
        to = f"http://127.0.0.1:{server.port}/"
        writer.write(
            f"HTTP/1.1 307 Temporary Redirect\r\nLocation: {to}\r\nContent-Length: 0\r\n\r\n".encode()
        )
        await writer.drain()
        writer.close()

    redirects = await asyncio.start_server(redirect, "127.0.0.1", 0)
    port = redirects.sockets[0].getsockname()[1]
    await put(f"http://127.0.0.1:{port}", InsideRules(refused=False))
    redirects.close()
    assert asked >= 1
    assert server.connections == 0


async def put(endpoint: str, rules: InsideRules, said: str | None = None) -> None:
    """Stores something, which fails."""
    storage = ProgramStorage(region="r", bucket="b", endpoint=endpoint, access_key="a", secret_key="s")
    bucket = Bucket(storage, lambda: 5.0, rules)
    try:
        with pytest.raises(SessionError, match=said):
            await bucket.put("k", b"", "t", "c")
    finally:
        await bucket.close_when_idle()
