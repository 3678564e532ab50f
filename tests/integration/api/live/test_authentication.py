"""Test tokens."""

from __future__ import annotations

from tests.support.facade import FacadeThread, User
from tests.support.tokens import assert_error

TOKEN = "/live/v2/authentication/token"


def test_a_test_token_verifies_and_grants_nothing(facade: FacadeThread, api_key: str) -> None:
    response = facade.http.get(f"{TOKEN}/test", headers={"X-API-Key": api_key})
    token = response.json()["accessToken"]
    assert_error(User(facade, token).call("GET", "/collection"), 403, 7)
    assert_error(facade.http.get(f"{TOKEN}/test"), 401, 16)
