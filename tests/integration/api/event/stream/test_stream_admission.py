"""How a stream that must not open is refused."""

from __future__ import annotations

import pytest
from tests.support.event_client import PUBLISH, WebSocket
from tests.support.facade import FacadeThread, User

REFUSED = "You do not have permission to this resource"


@pytest.mark.parametrize("token", ["nonsense", None])
def test_an_invalid_token_is_refused_on_the_stream(one: FacadeThread, token: str | None) -> None:
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    response = one.http.get("/event/v2/stream", headers=headers)
    assert (response.status_code, response.json()["code"]) == (401, 16)
    with WebSocket(one, token) as socket:
        details = [{"@type": "type.googleapis.com/google.rpc.Status", **response.json()}]
        error = {"code": 7, "message": REFUSED, "details": details}
        assert socket.next() == {"error": error, **error}
        assert socket.closed() == 1008


def test_a_head_of_a_stream_ends(host: User) -> None:
    response = host.call("HEAD", "/event/v2/stream")
    assert (response.status_code, response.headers["content-type"]) == (200, "application/x-ndjson")


def test_a_token_whose_role_may_not_is_refused(one: FacadeThread, api_key: str) -> None:
    response = one.http.get("/live/v2/authentication/token/test", headers={"X-API-Key": api_key})
    token = response.json()["accessToken"]
    with WebSocket(one, token) as socket:
        assert socket.next()["code"] == 7
        assert socket.closed() == 1008
    response = one.http.get("/event/v2/stream", headers={"Authorization": f"Bearer {token}"})
    assert (response.status_code, response.json()["code"]) == (403, 7)
    response = User(one, token).call("POST", PUBLISH, {"name": "a", "payload": {}})
    assert (response.status_code, response.json()["code"]) == (403, 7)


@pytest.mark.parametrize(("accept", "status"), [("application/x-ndjson", 401), ("text/event-stream", 200)])
def test_a_token_in_the_query_is_taken_only_where_no_header_can_be_sent(
    one: FacadeThread, host: User, accept: str, status: int
) -> None:
    query, headers = {"access_token": host.token}, {"Accept": accept}
    with one.http.stream("GET", "/event/v2/stream", params=query, headers=headers) as response:
        assert response.status_code == status
    with one.http.stream("GET", "/live/v2/collection", params=query, headers=headers) as response:
        assert response.status_code == 401
