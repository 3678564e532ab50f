"""Responses that come slowly, and those that stop coming."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest
from aiohttp import web

from onair_crds.contract.program import ProgramStorage
from onair_crds.session_error import SessionError
from onair_encoder.publish.hls import requests
from onair_encoder.publish.hls.bucket import Bucket

LIMIT_S, PARTS = 0.4, 8
PAUSE_S = LIMIT_S / 4


@pytest.fixture
async def bucket(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Bucket]:
    """`slow` comes in twice the time that a response may stand still; `halved` never comes whole."""

    over = asyncio.Event()

    async def respond(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        for part in range(PARTS):
            await response.write(b"%d" % part)
            if "halved" in request.path and part == PARTS // 2:
                await over.wait()
                break
            await asyncio.sleep(PAUSE_S)
        return response

    monkeypatch.setattr(requests, "LEAST_BODY_TIMEOUT_S", LIMIT_S)
    application = web.Application()
    application.router.add_get("/{path:.*}", respond)
    runner = web.AppRunner(application, shutdown_timeout=1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    endpoint = f"http://127.0.0.1:{runner.addresses[0][1]}"
    keys = {"access_key": "AK", "secret_key": "s3cret"}
    bucket = Bucket(ProgramStorage(region="r", bucket="shows", endpoint=endpoint, **keys), lambda: LIMIT_S)
    yield bucket
    over.set()
    await bucket.close()
    await runner.cleanup()


async def test_an_object_may_take_long_as_long_as_bytes_come(bucket: Bucket) -> None:
    """As the playlist of a long recording, over a slow network: who cannot read it cannot take over."""
    assert await bucket.get("slow") == (b"01234567", "")


async def test_an_object_that_stops_coming_is_not_waited_for(bucket: Bucket) -> None:
    with pytest.raises(SessionError, match="stalled"):
        await bucket.get("halved")
