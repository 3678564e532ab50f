"""Renewal of access tokens, asked for and by the way; keys that change under live tokens."""

from __future__ import annotations

import base64
import json
import secrets
from functools import partial
from typing import Any

import httpx
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from tests.support.facade import FacadeThread, StoredResources, User
from tests.support.tokens import assert_error, claims_of, forged, invite, private_key, refresh, refreshed
from tests.support.waiting import wait_for

WEEK_S = 604_800


def aged(user: User, resources: StoredResources, age_s: int, left_s: int, **changes: Any) -> User:
    """The same token as if it had been issued `age_s` ago, with `left_s` to go."""
    pem, _ = private_key(resources)
    now = claims_of(user.token)["iat"]
    changes.setdefault("auth_time", now - age_s)
    return forged(user, pem, iat=now - age_s, exp=now + left_s, **changes)


def renewed(response: httpx.Response) -> str | None:
    """The token that came with a response."""
    return response.headers.get("Authorization", "").removeprefix("Bearer ") or None


def test_a_refresh_keeps_the_grants(anna: User) -> None:
    before, after = claims_of(anna.token), claims_of(refreshed(anna).token)
    for name in ("sub", "user", "role", "scopes", "auth_time", "iss"):
        assert after[name] == before[name]
    assert after["jti"] != before["jti"]
    assert after["exp"] - after["iat"] == before["exp"] - before["iat"]


def test_a_token_near_its_end_is_renewed_on_any_response(anna: User, resources: StoredResources) -> None:
    show = anna.project()
    old = aged(anna, resources, 3600, 100)
    expected = claims_of(old.token)
    for method, path, status in (
        ("GET", show.path, 200),
        ("PATCH", show.path, 200),
        ("GET", "/collection/unknown", 404),
        ("HEAD", "/collection", 200),
    ):
        response = old.call(method, path)
        assert response.status_code == status
        token = renewed(response)
        assert token, (method, path)
        claims = claims_of(token)
        assert claims["exp"] - claims["iat"] == 3700
        assert claims["user"] == expected["user"]
        assert User(anna.facade, token).ok("GET", show.path)
    assert len({renewed(old.call("GET", show.path)) for _ in range(3)}) == 1, "one successor, not many"


def test_a_token_far_from_its_end_is_not(anna: User, resources: StoredResources) -> None:
    assert renewed(anna.call("GET", "/collection")) is None
    assert renewed(aged(anna, resources, 3600, 1000).call("GET", "/collection")) is None


def test_what_is_not_for_a_session_is_not_renewed_by_the_way(anna: User, resources: StoredResources) -> None:
    show = anna.project()
    direct = aged(invite(show), resources, 3600, 100)
    response = direct.call("GET", show.path)
    assert response.status_code == 200
    assert renewed(response) is None


def test_a_life_ends_seven_days_after_the_first_issue(anna: User, resources: StoredResources) -> None:
    now = claims_of(anna.token)["iat"]
    first = now - WEEK_S + 500
    late = aged(anna, resources, 3600, 100, auth_time=first)
    for token in (renewed(late.call("GET", "/collection")), refreshed(late).token):
        assert token
        assert claims_of(token)["exp"] == now + 500
        assert claims_of(token)["auth_time"] == first
    last = aged(anna, resources, 3600, 100, auth_time=now - WEEK_S + 100)
    assert renewed(last.call("GET", "/collection")) is None
    assert claims_of(refreshed(last).token)["exp"] == now + 100


def test_an_ended_token_is_not_refreshed(anna: User, resources: StoredResources) -> None:
    assert_error(refresh(aged(anna, resources, 3600, -1)), 401, 16)


def test_a_test_token_is_not_refreshed(facade: FacadeThread, api_key: str) -> None:
    path = "/live/v2/authentication/token/test"
    token = facade.http.get(path, headers={"X-API-Key": api_key}).json()["accessToken"]
    assert_error(refresh(User(facade, token)), 403, 7)
    assert claims_of(token)["user"]["trial"] is False


def test_a_new_key_signs_and_tokens_of_the_old_one_live_on(
    anna: User, facade: FacadeThread, second_facade: FacadeThread, resources: StoredResources
) -> None:
    """Adding a Secret rotates; deleting one ends what it signed. The first key stays: others use it."""
    pem = rsa.generate_private_key(public_exponent=65537, key_size=2048).private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    name = f"signing-{secrets.token_hex(4)}"

    def kids(replica: FacadeThread) -> list[str]:
        keys = replica.http.get("/live/v2/authentication/jwks").json()["keys"]
        return [key["kid"] for key in keys]

    replicas = (facade, second_facade)
    before = kids(facade)
    resources.add_secret(resources.release, name, "onair.dev/signing-key", {"private.pem": pem.decode()})

    def has_keys(replica: FacadeThread, count: int) -> bool:
        return len(kids(replica)) == count

    def has_former_keys(replica: FacadeThread) -> bool:
        return kids(replica) == before

    for replica in replicas:
        wait_for(partial(has_keys, replica, len(before) + 1), "the new key")
    (added,) = set(kids(facade)) - set(before)
    new = refreshed(anna)
    assert header_of(new.token)["kid"] == added
    assert header_of(anna.token)["kid"] in before
    for replica in replicas:
        for token in (anna.token, new.token):
            assert User(replica, token).ok("GET", "/collection") == {"collections": []}
    resources.admin.delete(f"/api/v1/namespaces/{resources.release}/secrets/{name}").raise_for_status()
    for replica in replicas:
        wait_for(partial(has_former_keys, replica), "the key is gone")
        assert_error(User(replica, new.token).call("GET", "/collection"), 401, 16)
        assert User(replica, anna.token).ok("GET", "/collection") == {"collections": []}


def header_of(token: str) -> dict[str, Any]:
    head = token.split(".", maxsplit=1)[0]
    return dict(json.loads(base64.urlsafe_b64decode(head + "=" * (-len(head) % 4))))
