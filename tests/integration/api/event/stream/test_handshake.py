"""How a stream that must not open is refused."""

from __future__ import annotations

import pytest
from tests.support.event_client import PUBLISH, WebSocket
from tests.support.facade import Facade, User

REFUSED = "You do not have permission to this resource"


@pytest.mark.parametrize("token", ["nonsense", None])
def test_an_invalid_token_is_refused_on_the_stream(one: Facade, token: str | None) -> None:
    with WebSocket(one, token) as socket:
        error = {"code": 7, "message": REFUSED, "details": []}
        assert socket.next() == {"error": error, **error}
        assert socket.closed() == 1008
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    answer = one.http.get("/event/v2/stream", headers=headers)
    assert (answer.status_code, answer.json()["code"]) == (401, 16)


def test_a_head_of_a_stream_ends(host: User) -> None:
    answer = host.call("HEAD", "/event/v2/stream")
    assert (answer.status_code, answer.headers["content-type"]) == (200, "application/x-ndjson")


def test_a_token_whose_role_may_not_is_refused(one: Facade, api_key: str) -> None:
    answer = one.http.get("/live/v2/authentication/token/test", headers={"X-API-Key": api_key})
    token = answer.json()["accessToken"]
    with WebSocket(one, token) as socket:
        assert socket.next()["code"] == 7
        assert socket.closed() == 1008
    answer = one.http.get("/event/v2/stream", headers={"Authorization": f"Bearer {token}"})
    assert (answer.status_code, answer.json()["code"]) == (403, 7)
    answer = User(one, token).call("POST", PUBLISH, {"name": "a", "payload": {}})
    assert (answer.status_code, answer.json()["code"]) == (403, 7)
