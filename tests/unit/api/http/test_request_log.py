"""Errors that nothing handles."""

from __future__ import annotations

import pytest
from fastapi import FastAPI
from starlette.responses import PlainTextResponse
from starlette.routing import BaseRoute
from tests.support.asgi import client

from onair_api.application import stream_paths
from onair_api.http.request_log import RequestLog
from onair_api.http.routes import NamedRoute
from onair_api.operations import OPERATIONS


async def test_what_nobody_expected_is_answered_without_its_text(capsys: pytest.CaptureFixture[str]) -> None:
    broken = FastAPI()

    @broken.get("/broken")
    async def fail() -> None:
        raise RuntimeError("the stream key is hush-hush")

    broken.add_middleware(RequestLog)
    async with client(broken) as http:
        response = await http.get("/broken")
    assert (response.status_code, response.json()["code"]) == (500, 13)
    assert "hush-hush" not in response.text + capsys.readouterr().out


async def test_methods_of_any_text_are_counted_together() -> None:
    app = RequestLog(FastAPI())
    async with client(app) as http:
        for number in range(3):
            await http.request(f"MADE-UP-{number}", "/")
    assert {method for method, _, _ in app._counters} == {"other"}


async def test_streams_are_counted_and_not_timed() -> None:
    page = PlainTextResponse(".")
    routes: list[BaseRoute] = [NamedRoute("/stream", page), NamedRoute("/other", page)]
    app = RequestLog(FastAPI(routes=routes), {"/stream"})
    async with client(app) as http:
        assert [(await http.get(path)).status_code for path in ("/stream", "/other")] == [200, 200]
    assert {route for _, route, _ in app._counters} == {"/stream", "/other"}
    assert app._timers.keys() == {"/other"}


def test_event_streams_are_the_ones_over_http_and_over_rpc() -> None:
    expected = {"/event/v2/stream", "/grpcweb/event/v2/apis.event.v2.EventService/Stream"}
    assert stream_paths(OPERATIONS) == expected
