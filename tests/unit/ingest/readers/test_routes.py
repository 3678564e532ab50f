"""Readers over HTTP: how many there may be of a stream, and for how long."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass

import aiohttp
import pytest
from aiohttp import web
from tests.support.loopback_server import on_loopback
from tests.support.waiting import until

from onair_crds.contract.access_units import ACCESS_UNITS_SUFFIX
from onair_crds.contract.ingest_gateway import STREAMS_PATH, reader_token
from onair_crds.rtmp.chunks import RtmpMessage
from onair_crds.runtime import rotated_secret
from onair_crds.runtime.rotated_secret import RotatedSecret
from onair_ingest.mediamtx.rtmp_player import MediaServer
from onair_ingest.readers import readers as readers_module
from onair_ingest.readers import routes as routes_module
from onair_ingest.readers.readers import Readers
from onair_ingest.readers.routes import ReaderRoutes

SECRET = b"a secret of this installation"
AAC_CONFIG = b"\xaf\x00\x11\x90"


class EndlessPlayer:
    """Plays the configuration of audio, and then nothing."""

    def __init__(self, server: MediaServer, path: str) -> None:
        pass

    async def play(self, take: Callable[[RtmpMessage], None]) -> None:
        take(RtmpMessage(8, 1, 0, AAC_CONFIG))
        await asyncio.Event().wait()


@dataclass(frozen=True)
class ServedStreams:
    """Streams of all names, each with media that never ends."""

    secret: RotatedSecret
    readers: Readers
    address: str
    session: aiohttp.ClientSession

    async def connect(self, stream: str) -> aiohttp.ClientWebSocketResponse:
        return await self.session.ws_connect(
            f"{self.address}{STREAMS_PATH}/{stream}{ACCESS_UNITS_SUFFIX}",
            headers={"Authorization": f"Bearer {reader_token(self.secret.present, stream)}"},
        )


@pytest.fixture
async def streams(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[ServedStreams]:
    monkeypatch.setattr(readers_module, "RtmpPlayer", EndlessPlayer)
    readers = Readers(
        lambda stream: f"live/{stream}",
        lambda _: None,
        lambda _: None,
        MediaServer("127.0.0.1", 1),
        linger_s=5.0,
    )
    app, secret = web.Application(), RotatedSecret(SECRET)
    ReaderRoutes(readers, secret).add_to(app)
    async with on_loopback(app) as address, aiohttp.ClientSession() as session:
        yield ServedStreams(secret, readers, address, session)
        await readers.close()


async def test_a_stream_has_no_more_readers_than_it_may_have(
    streams: ServedStreams, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(routes_module, "MAX_READERS", 2)
    first, second = [await streams.connect("one") for _ in range(2)]
    for reader in (first, second):
        await reader.receive_bytes()
    with pytest.raises(aiohttp.WSServerHandshakeError) as refused:
        await streams.connect("one")
    assert refused.value.status == 429
    other = await streams.connect("another")
    await other.receive_bytes()
    await first.close()
    await until(lambda: streams.readers.played["one"] == 1, "one has left")
    again = await streams.connect("one")
    await again.receive_bytes()
    assert not second.closed


async def test_who_showed_a_token_that_counts_no_more_is_disconnected(
    streams: ServedStreams, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rotated_secret, "LOOK_S", 0.01)
    first = await streams.connect("one")
    await first.receive_bytes()
    streams.secret.replace(b"another secret of this installation")
    second = await streams.connect("one")
    await second.receive_bytes()
    assert streams.readers.played["one"] == 2, "the former secret counts for a while"
    monkeypatch.setattr(rotated_secret, "FORMER_S", 0.0)
    async with asyncio.timeout(5):
        assert (await first.receive()).type is aiohttp.WSMsgType.CLOSE
    assert first.close_code == 4401
    await until(lambda: streams.readers.played["one"] == 1, "one has left")
    assert not second.closed
