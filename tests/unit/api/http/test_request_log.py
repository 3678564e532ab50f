"""Errors that nothing handles."""

from __future__ import annotations

import pytest
from fastapi import FastAPI
from tests.support.asgi import client

from onair_api.http.request_log import RequestLog


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
