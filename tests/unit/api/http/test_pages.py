"""Probes."""

from __future__ import annotations

from fastapi import FastAPI
from tests.support.asgi import client


async def test_it_is_not_ready_before_the_cache_is_filled(app: FastAPI) -> None:
    async with client(app) as http:
        response = await http.get("/readyz")
        assert response.status_code == 503
        assert "Project" in response.json()["waitingFor"]
        assert (await http.get("/healthz")).status_code == 200
