"""What a gateway takes for an answer of the facade."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import aiohttp
import pytest
from aiohttp import web
from tests.support.loopback_server import on_loopback

from onair_crds.contract.ingest_gateway import HOOK_PATH, PublishRefusal
from onair_crds.runtime.rotated_secret import RotatedSecret
from onair_ingest.admission.facade import MAX_RESPONSE, Facade, FacadeUnavailable
from onair_ingest.settings import HookSettings

REFUSAL = PublishRefusal(reason="Disabled", message="the source is disabled")


class FacadeAnswers:
    """A facade whose answer is a test's, and what was sent to where a redirect leads."""

    def __init__(self) -> None:
        self.parts: list[bytes] = []
        self.location = ""
        self.elsewhere: list[str] = []

    async def answer(self, request: web.Request) -> web.StreamResponse:
        if self.location:
            return web.Response(status=307, headers={"Location": self.location})
        response = web.StreamResponse(status=403)
        await response.prepare(request)
        for part in self.parts:
            await response.write(part)
            await asyncio.sleep(0)
        return response

    async def take(self, request: web.Request) -> web.Response:
        self.elsewhere.append(await request.text())
        return web.Response(status=204)

    @asynccontextmanager
    async def asked_by(self) -> AsyncIterator[Facade]:
        app = web.Application()
        app.router.add_post(HOOK_PATH, self.answer)
        app.router.add_post("/elsewhere", self.take)
        async with on_loopback(app) as address, aiohttp.ClientSession() as session:
            settings = HookSettings(facade_url=address)
            yield Facade(session, RotatedSecret(b"a secret of this installation"), "onair-ingest-0", settings)


async def test_a_refusal_that_comes_in_parts_is_one() -> None:
    answers = FacadeAnswers()
    text = REFUSAL.wire().encode()
    answers.parts = [text[:10], text[10:]]
    async with answers.asked_by() as facade:
        assert await facade.ask("key", "rtmp") == REFUSAL


async def test_an_endless_answer_is_none() -> None:
    answers = FacadeAnswers()
    answers.parts = [b" " * (MAX_RESPONSE // 2)] * 4
    async with answers.asked_by() as facade:
        with pytest.raises(FacadeUnavailable, match="not a refusal"):
            await facade.ask("key", "rtmp")


async def test_no_key_is_sent_to_where_a_redirect_leads() -> None:
    answers = FacadeAnswers()
    answers.location = "/elsewhere"
    async with answers.asked_by() as facade:
        with pytest.raises(FacadeUnavailable, match="HTTP 307"):
            await facade.ask("key", "rtmp")
    assert answers.elsewhere == []
