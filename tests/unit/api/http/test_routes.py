"""Routes of the table."""

from __future__ import annotations

from fastapi import FastAPI
from tests.support.asgi import client


async def test_without_a_key_tokens_cannot_be_verified(app: FastAPI) -> None:
    async with client(app) as http:
        assert (await http.get("/live/v2/authentication/jwks")).json() == {"keys": []}
        answer = await http.get("/live/v2/collection", headers={"Authorization": "Bearer x.y.z"})
        assert answer.status_code == 401
