"""Browsers of other origins."""

from __future__ import annotations

import pytest
from fastapi import FastAPI
from tests.support.asgi import client

from onair_api.http.cors import ALLOWED_HEADERS, allowed_headers


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
    assert names[len(ALLOWED_HEADERS) :] == extra
    assert "Authorization" in names


async def test_only_configured_origins_are_let_in(app: FastAPI) -> None:
    async with client(app) as http:
        preflight = {"Access-Control-Request-Method": "PATCH"}
        for origin, let_in in (("https://a.example", True), ("https://b.example", False), ("null", False)):
            for response in (
                await http.get("/nothing", headers={"Origin": origin}),
                await http.options("/live/v2/collection", headers={"Origin": origin, **preflight}),
            ):
                expected = origin if let_in else None
                assert response.headers.get("Access-Control-Allow-Origin") == expected
                assert response.headers["Vary"] == "Origin"
            assert ("Access-Control-Allow-Methods" in response.headers) is let_in
