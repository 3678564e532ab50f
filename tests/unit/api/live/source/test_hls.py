"""How many requests of players are made of gateways at once."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from functools import partial
from typing import cast

import pytest
from aiohttp import web
from tests.support.loopback_server import on_loopback
from tests.support.moved_name import at_moved_name
from tests.support.waiting import until

from onair_api.auth.identity import Origin
from onair_api.auth.ingest_secret import IngestSecret
from onair_api.auth.play_tokens import PlayToken, Purpose
from onair_api.cache.cluster import Cluster
from onair_api.cache.view import View
from onair_api.cache.watched_kinds import COLLECTION, SOURCE
from onair_api.errors import FailedPrecondition, ResourceExhausted, Unavailable
from onair_api.live.source.hls import MOST_OF_ALL, MOST_OF_ONE, HlsPreviews
from onair_api.settings import GatewaySettings, IngestSettings, Settings

SECRET = b"an installation's secret"
POD = "onair-ingest-0"
HALF = MOST_OF_ALL // 2


class ViewedCluster:
    """A cluster's view alone."""

    def __init__(self) -> None:
        self.view = View()


class KnownSecret:
    """The installation's secret, as one that was read."""

    async def get(self) -> bytes:
        return SECRET


class HlsPlayersOfServices:
    """A gateway that finishes no segment before a test says so, and players of two services' sources."""

    def __init__(self) -> None:
        self.fetched, self.status = 0, 200
        self.finish = asyncio.Event()
        self.cluster = ViewedCluster()
        for service in ("one", "other"):
            owner = {"serviceId": service, "serviceUserId": "ann"}
            self._put(COLLECTION, f"collection-{service}", {"owner": owner}, {})
            spec = {"collectionId": f"collection-{service}", "address": {"rtmpPush": {}}}
            self._put(SOURCE, f"source-{service}", spec, {"gateway": POD, "stream": service})

    def _put(self, kind: str, name: str, spec: object, status: object) -> None:
        metadata = {"name": name, "uid": name, "resourceVersion": "1"}
        self.cluster.view.put(kind, {"metadata": metadata, "spec": spec, "status": status})

    @contextlib.asynccontextmanager
    async def previews(self, at: Callable[[str], str] = str) -> AsyncIterator[HlsPreviews]:
        """
        Args:
            at: where the gateway is for the facade, by its url.
        """
        app = web.Application()
        app.router.add_get("/{path:.*}", self._serve)
        async with on_loopback(app) as url:
            gateways = [GatewaySettings(name=POD, url=at(url))]
            previews = HlsPreviews(
                cast("Cluster", self.cluster),
                cast("IngestSecret", KnownSecret()),
                Settings(ingest=IngestSettings(gateways=gateways)),
                self._has_ended,
            )
            try:
                yield previews
            finally:
                self.finish.set()
                await previews.close()

    async def _serve(self, _: web.Request) -> web.Response:
        if self.status != 200:
            return web.Response(status=self.status)
        self.fetched += 1
        await self.finish.wait()
        return web.Response(body=b"segment")

    async def _has_ended(self, _: Origin) -> bool:
        return False


def token(service: str, player: int) -> str:
    source, until_s = f"source-{service}", int(time.time()) + 600
    lineage = (f"player-{player}",)
    return PlayToken(Purpose.PLAY, source, source, until_s, until_s, lineage, None, "").encode(SECRET)


async def play(previews: HlsPreviews, token: str) -> bytes:
    async with previews.segment(token, "1.ts") as (_, parts):
        return b"".join([part async for part in parts])


async def test_a_service_has_half_of_all_requests_and_the_next_one_half_of_the_rest() -> None:
    services = HlsPlayersOfServices()
    async with services.previews() as previews, asyncio.TaskGroup() as tasks:
        playing = []
        for service, most in (("one", HALF), ("other", HALF // 2)):
            playing += [tasks.create_task(play(previews, token(service, n))) for n in range(most)]
            await until(lambda: services.fetched == len(playing), "all are fetched at once")  # noqa: B023
            await refused(play(previews, token(service, most)))
        services.finish.set()
        assert {await each for each in playing} == {b"segment"}
        assert await play(previews, token("one", HALF)) == b"segment"


async def test_a_player_has_a_few_requests() -> None:
    services = HlsPlayersOfServices()
    async with services.previews() as previews, asyncio.TaskGroup() as tasks:
        playing = [tasks.create_task(play(previews, token("one", 1))) for _ in range(MOST_OF_ONE)]
        await until(lambda: services.fetched == MOST_OF_ONE)
        await refused(play(previews, token("one", 1)))
        services.finish.set()
        assert {await each for each in playing} == {b"segment"}


async def test_a_gateway_that_has_moved_is_found_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    services = HlsPlayersOfServices()
    services.finish.set()
    async with services.previews(partial(at_moved_name, monkeypatch)) as previews:
        with pytest.raises(Unavailable):
            await play(previews, token("one", 1))
        assert await play(previews, token("one", 1)) == b"segment"


async def test_what_no_player_decodes_is_no_reason_to_try_again() -> None:
    services = HlsPlayersOfServices()
    services.status = 415
    async with services.previews() as previews:
        with pytest.raises(FailedPrecondition):
            await previews.playlist(token("one", 1))


async def refused(playing: Awaitable[bytes]) -> None:
    with pytest.raises(ResourceExhausted):
        await playing
