"""Parts of the HTTP layer that need no cluster."""

from __future__ import annotations

from typing import Any

import httpx
import pytest
from fastapi import FastAPI
from hypothesis import given
from hypothesis import strategies as st

from onair_api.application import create_app
from onair_api.http.body import is_deeper_than
from onair_api.http.cors import allowed_headers
from onair_api.http.request_log import RequestLog
from onair_api.settings import CorsSettings, LimitSettings, Settings


def client(app: Any) -> httpx.AsyncClient:
    transport = httpx.ASGITransport(app=app, raise_app_exceptions=False)
    return httpx.AsyncClient(transport=transport, base_url="http://onair")


@pytest.fixture
def app() -> FastAPI:
    settings = Settings(
        cors=CorsSettings(origins=["https://a.example"]), limits=LimitSettings(body_bytes=2048)
    )
    return create_app(settings, None)  # type: ignore[arg-type]


def depth_of(value: Any) -> int:
    if isinstance(value, dict):
        return 1 + max(map(depth_of, value.values()), default=0)
    return 1 + max(map(depth_of, value), default=0) if isinstance(value, list) else 0


@given(
    st.recursive(
        st.integers(),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=2), inner, max_size=3),
    ),
    st.integers(1, 6),
)
def test_depth_is_counted_in_containers(value: Any, limit: int) -> None:
    if isinstance(value, dict | list):
        assert is_deeper_than(value, limit) == (depth_of(value) > limit)


@pytest.mark.parametrize(
    ("asked", "extra"),
    [
        ("", []),
        ("authorization, X-Other", []),
        ("Apistream-SessionId", ["Apistream-SessionId"]),
        ("apistream-a\r\nx: y", []),
        ("apistream-a b", []),
    ],
)
def test_only_known_headers_and_those_of_the_prefix_are_allowed(asked: str, extra: list[str]) -> None:
    names = allowed_headers(asked).split(", ")
    assert names[8:] == extra
    assert "Authorization" in names[:8]


async def test_only_configured_origins_are_let_in(app: FastAPI) -> None:
    async with client(app) as http:
        preflight = {"Access-Control-Request-Method": "PATCH"}
        for origin, let_in in (("https://a.example", True), ("https://b.example", False), ("null", False)):
            for answer in (
                await http.get("/nothing", headers={"Origin": origin}),
                await http.options("/live/v2/collection", headers={"Origin": origin, **preflight}),
            ):
                expected = origin if let_in else None
                assert answer.headers.get("Access-Control-Allow-Origin") == expected
                assert answer.headers["Vary"] == "Origin"
            assert ("Access-Control-Allow-Methods" in answer.headers) is let_in


async def test_it_is_not_ready_before_the_cache_is_filled(app: FastAPI) -> None:
    async with client(app) as http:
        answer = await http.get("/readyz")
        assert answer.status_code == 503
        assert "Project" in answer.json()["waitingFor"]
        assert (await http.get("/healthz")).status_code == 200


async def test_what_nobody_expected_is_answered_without_its_text(capsys: pytest.CaptureFixture[str]) -> None:
    broken = FastAPI()

    @broken.get("/broken")
    async def fail() -> None:
        raise RuntimeError("the stream key is hush-hush")

    broken.add_middleware(RequestLog)
    async with client(broken) as http:
        answer = await http.get("/broken")
    assert (answer.status_code, answer.json()["code"]) == (500, 13)
    assert "hush-hush" not in answer.text + capsys.readouterr().out


async def test_without_a_key_tokens_cannot_be_verified(app: FastAPI) -> None:
    async with client(app) as http:
        assert (await http.get("/live/v2/authentication/jwks")).json() == {"keys": []}
        answer = await http.get("/live/v2/collection", headers={"Authorization": "Bearer x.y.z"})
        assert answer.status_code == 401
