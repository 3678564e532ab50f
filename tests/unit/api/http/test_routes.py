"""Routes of the table."""

from __future__ import annotations

from fastapi import FastAPI
from starlette.routing import Route
from tests.support.asgi import client

from onair_api.auth.callers import CallHeaders
from onair_api.http.routes import call_headers
from onair_api.operations import OPERATIONS


async def test_without_a_key_tokens_cannot_be_verified(app: FastAPI) -> None:
    async with client(app) as http:
        assert (await http.get("/live/v2/authentication/jwks")).json() == {"keys": []}
        response = await http.get("/live/v2/collection", headers={"Authorization": "Bearer x.y.z"})
        assert response.status_code == 401


def test_credentials_and_session_are_read_from_the_first_header_of_a_name() -> None:
    headers = [(b"authorization", b"Bearer a"), (b"authorization", b"Bearer b"), (b"accept", b"*/*")]
    assert call_headers({"headers": headers}) == CallHeaders("Bearer a")
    both = [(b"apistream-sessionid", b"s1"), (b"sessionid", b"s2"), (b"x-api-key", b"k")]
    assert call_headers({"headers": both}) == CallHeaders(None, "k", "s2")
    assert call_headers({"headers": both[:1]}).session_id == "s1"


def test_every_route_is_in_the_applications_own_list(app: FastAPI) -> None:
    found = {route.path: route for route in app.router.routes if isinstance(route, Route)}
    assert {each.http.path for each in OPERATIONS} <= set(found)
