"""Who may publish: decided from the last look, as MediaMTX stands still while it asks."""

from __future__ import annotations

import asyncio
from typing import Any

import aiohttp
import pytest

from onair_crds.contract.ingest_gateway import (
    MAX_REFUSED,
    Heartbeat,
    PublishRefusal,
    RefusedPublisher,
    stream_of_key,
)
from onair_crds.runtime.rotated_secret import RotatedSecret
from onair_ingest.admission.admission import Admission, Publisher, PublishRefused
from onair_ingest.admission.facade import Facade, PublishProtocol
from onair_ingest.mediamtx.client import MediaMtx, MediaMtxUnavailable
from onair_ingest.mediamtx.records import Path, PathSource, PublisherConnection
from onair_ingest.settings import HookSettings
from onair_ingest.streams.connection_identity import Identities
from onair_ingest.streams.streams import Streams


class ScriptedMediaMtx(MediaMtx):
    """MediaMTX with these paths and connections."""

    def __init__(self) -> None:
        self.items: list[Path] = []
        self.open: set[str] = set()
        self.kicked: list[str] = []
        self.hangs = False

    async def paths(self) -> list[Path]:
        if self.hangs:
            raise MediaMtxUnavailable("TimeoutError")
        return self.items

    async def connection(self, source: PathSource) -> PublisherConnection | None:
        await asyncio.sleep(0)
        return PublisherConnection(id=source.id) if source.id in self.open else None

    async def kick(self, source: PathSource) -> None:
        self.kicked.append(source.id)

    def publishes(self, name: str, connection: str, received: int) -> None:
        document: dict[str, Any] = {
            "name": name,
            "available": True,
            "source": {"type": "rtmpConn", "id": connection},
            "inboundBytes": received,
        }
        self.items = [Path.model_validate(document)]
        self.open.add(connection)


class Knows(Facade):
    """A facade that admits everybody once it is let."""

    def __init__(self) -> None:
        self.answers = asyncio.Event()
        self.answers.set()

    async def ask(self, key: str, protocol: PublishProtocol) -> PublishRefusal | None:
        await self.answers.wait()
        return None


class AdmittingGateway:
    def __init__(self) -> None:
        self.server, self.facade = ScriptedMediaMtx(), Knows()
        self.identities = Identities(self.server)
        self.streams = Streams(self.server, self.identities, poll_interval_s=1, silent_after_s=0.0001)
        self.admission = Admission(self.facade, self.streams, self.identities, self.server)

    async def begun(self) -> AdmittingGateway:
        await self.streams.look()
        return self

    async def admit(self, connection: str, key: str = "key", path: str = "live/key") -> None:
        self.server.open.add(connection)
        await self.admission.admit(Publisher(connection, "rtmp", path, key, "203.0.113.40"))

    async def refusal(self, connection: str, key: str = "key", path: str = "live/key") -> str:
        with pytest.raises(PublishRefused) as refused:
            await self.admit(connection, key, path)
        return refused.value.reason


async def test_nobody_is_admitted_before_it_is_known_who_publishes() -> None:
    gateway = AdmittingGateway()
    assert await gateway.refusal("c1") == "Unavailable"
    await gateway.begun()
    await gateway.admit("c1")
    gateway.server.hangs = True
    await gateway.streams.look()
    assert await gateway.refusal("c2", "other", "live/other") == "Unavailable"


async def test_of_two_that_come_at_once_the_first_is_admitted() -> None:
    gateway = await AdmittingGateway().begun()
    gateway.facade.answers.clear()
    first = asyncio.create_task(gateway.admit("c1"))
    await asyncio.sleep(0)
    assert await gateway.refusal("c2") == "InUse"
    gateway.facade.answers.set()
    await first


async def test_followers_hear_once_a_heartbeat_who_was_refused_with_a_key_that_there_is() -> None:
    gateway = await AdmittingGateway().begun()
    following = gateway.streams.follow()
    assert await anext(following) == Heartbeat()
    await gateway.admit("c1")
    for number in range(MAX_REFUSED + 5):
        assert await gateway.refusal(f"again-{number}") == "InUse"
    gateway.server.hangs = True
    await gateway.streams.look()
    assert await gateway.refusal("c2", "other", "live/other") == "Unavailable"
    told = await anext(following)
    refused = RefusedPublisher(stream=stream_of_key("key"), reason="InUse", publisher="203.0.113.40")
    assert told == Heartbeat(refused=[refused])
    assert await anext(following) == Heartbeat()


async def test_a_refusal_that_comes_late_does_not_take_the_place_of_the_next_one() -> None:
    gateway = await AdmittingGateway().begun()
    gateway.facade.answers.clear()
    first = asyncio.create_task(gateway.admit("c1"))
    await asyncio.sleep(0)
    gateway.server.open.clear()  # the first is closed, and its answer still to come
    second = asyncio.create_task(gateway.admit("c2"))
    await asyncio.sleep(0)
    first.cancel()
    with pytest.raises(asyncio.CancelledError):
        await first
    assert await gateway.refusal("c3") == "InUse"
    gateway.facade.answers.set()
    await second


async def test_a_connection_that_closed_without_media_holds_no_place() -> None:
    gateway = await AdmittingGateway().begun()
    await gateway.admit("c1")
    assert await gateway.refusal("c2") == "InUse"
    gateway.server.open.clear()
    await gateway.admit("c3")


async def test_a_publisher_whose_connection_is_closed_by_now_is_in_nobodys_way() -> None:
    gateway = await AdmittingGateway().begun()
    await gateway.admit("c1")
    gateway.server.publishes("live/key", "c1", 100)
    await gateway.streams.look()
    gateway.server.open.clear()
    await gateway.admit("c2")


async def test_a_silent_publisher_at_another_path_is_disconnected() -> None:
    gateway = await AdmittingGateway().begun()
    await gateway.admit("c1")
    gateway.server.publishes("live/key", "c1", 0)
    await gateway.streams.look()
    await gateway.admit("c2", path="key")
    assert gateway.server.kicked == ["c1"]


async def test_a_path_that_another_source_uses_is_taken() -> None:
    gateway = await AdmittingGateway().begun()
    await gateway.admit("c1", "one", "live/camera")
    assert await gateway.refusal("c2", "two", "live/camera") == "InUse"
    await gateway.admit("c3", "two", "live/other")


async def test_of_two_sources_that_come_to_a_path_at_once_the_first_is_admitted() -> None:
    gateway = await AdmittingGateway().begun()
    gateway.facade.answers.clear()
    both = [asyncio.create_task(gateway.admit(key, key, "live/camera")) for key in ("one", "two")]
    for _ in range(10):
        await asyncio.sleep(0)
    gateway.facade.answers.set()
    first, second = await asyncio.gather(*both, return_exceptions=True)
    assert first is None
    assert isinstance(second, PublishRefused)
    assert second.reason == "InUse"


@pytest.mark.parametrize("looked", [True, False])
async def test_a_path_is_free_once_another_source_has_left_it_also_before_the_next_look(
    looked: bool,
) -> None:
    gateway = await AdmittingGateway().begun()
    await gateway.admit("c1", "one", "live/camera")
    if looked:  # it has brought media
        gateway.server.publishes("live/camera", "c1", 100)
        await gateway.streams.look()
    gateway.server.open.clear()
    await gateway.admit("c2", "two", "live/camera")
    assert await gateway.refusal("c3", "one", "live/camera") == "InUse"


async def test_of_a_connection_that_was_closed_before_the_facade_answered_nothing_is_kept() -> None:
    gateway = await AdmittingGateway().begun()
    gateway.facade.answers.clear()
    both = []
    for connection in ("c1", "c2"):
        gateway.server.open.clear()
        both.append(asyncio.create_task(gateway.admit(connection, connection, "live/camera")))
        for _ in range(10):
            await asyncio.sleep(0)
    gateway.facade.answers.set()
    await asyncio.gather(*both)
    assert gateway.identities.known.keys() == {"c2"}


async def test_a_facade_that_does_not_respond_in_time_is_left_alone_for_a_while() -> None:
    settings = HookSettings(facade_url="http://127.0.0.1:9", timeout_s=0.05, pause_s=60)

    async def hang(reader: asyncio.StreamReader, _: asyncio.StreamWriter) -> None:
        await reader.read()

    server = await asyncio.start_server(hang, "127.0.0.1", 0)
    settings.facade_url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    async with server, aiohttp.ClientSession() as session:
        facade = Facade(session, RotatedSecret(b"secret"), "gateway", settings)
        reasons = []
        for _ in range(2):
            with pytest.raises(Exception, match="the facade") as failed:
                await facade.ask("key", "rtmp")
            reasons.append(str(failed.value))
    assert reasons == ["the facade does not respond in time", "the facade has just been too slow"]
