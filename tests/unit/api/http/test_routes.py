"""Routes of the table."""

from __future__ import annotations

from fastapi import FastAPI
from starlette.routing import Route
from tests.support.asgi import client

from onair_api.operations import OPERATIONS


async def test_without_a_key_tokens_cannot_be_verified(app: FastAPI) -> None:
    async with client(app) as http:
        assert (await http.get("/live/v2/authentication/jwks")).json() == {"keys": []}
        response = await http.get("/live/v2/collection", headers={"Authorization": "Bearer x.y.z"})
        assert response.status_code == 401


def test_every_route_is_in_the_applications_own_list(app: FastAPI) -> None:
    found = {route.path: route for route in app.router.routes if isinstance(route, Route)}
    assert {each.http.path for each in OPERATIONS} <= set(found)
