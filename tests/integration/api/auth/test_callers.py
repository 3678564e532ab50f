"""Which credential an operation takes."""

from __future__ import annotations

from tests.support.facade import FacadeThread, User
from tests.support.tokens import assert_error

TOKEN = "/live/v2/authentication/token"


def test_an_operation_reads_only_its_own_credential(facade: FacadeThread, api_key: str, anna: User) -> None:
    body = {"serviceUserId": "anna"}
    http = facade.http
    both = {"X-API-Key": api_key, "Authorization": "Bearer undefined"}
    assert http.post(TOKEN, headers=both, json=body).status_code == 200
    for headers in ({}, anna.headers, {"X-API-Key": "wrong"}, {"X-API-Key": ""}):
        assert_error(http.post(TOKEN, headers=headers, json=body), 401, 16)
    path = "/live/v2/collection"
    assert http.get(path, headers={**anna.headers, "X-API-Key": "wrong"}).status_code == 200
    for headers in ({}, {"X-API-Key": api_key}, {"Authorization": "Bearer x"}, {"Authorization": anna.token}):
        response = http.get(path, headers=headers)
        assert_error(response, 401, 16)
        assert response.headers["WWW-Authenticate"] == "Bearer"
