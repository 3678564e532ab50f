"""Probes."""

from __future__ import annotations

from fastapi import FastAPI
from tests.support.asgi import client


async def test_it_is_not_ready_before_the_cache_is_filled(app: FastAPI) -> None:
    async with client(app) as http:
        answer = await http.get("/readyz")
        assert answer.status_code == 503
        assert "Project" in answer.json()["waitingFor"]
        assert (await http.get("/healthz")).status_code == 200
