"""No kind of destination connects to an address inside, whatever name leads there."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from onair_crds.contract.inside_addresses import InsideRules
from onair_crds.contract.program import ProgramStorage
from onair_crds.session_error import SessionError
from onair_encoder.publish.hls.bucket import Bucket
from onair_encoder.publish.rtmp.address import RtmpAddress
from onair_encoder.publish.srt.address import SrtAddress
from onair_encoder.publish.srt.connection import SrtConnection

HOSTS = ["localhost", "127.0.0.1", "2130706433"]


class ConnectionCounter:
    """Counts connections."""

    connections = 0

    async def start(self) -> None:
        self._server = await asyncio.start_server(self._take, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]

    def _take(self, _: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
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
        await address.connect(InsideRules())
    assert refused.value.permanent
    assert "key" not in str(refused.value)
    _, writer = await address.connect(InsideRules(allowed_hosts=(f"{host}:{server.port}",)))
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
    storage = ProgramStorage(
        region="r", bucket="b", endpoint=f"http://{host}:{server.port}", access_key="a", secret_key="s"
    )
    bucket = Bucket(storage, lambda: 5.0, InsideRules())
    try:
        with pytest.raises(SessionError, match="inside this installation"):
            await bucket.put("k", b"", "t", "c")
    finally:
        await bucket.close_when_idle()
    assert server.connections == 0
