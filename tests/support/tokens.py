"""Tokens as guests and forgers have them."""

from __future__ import annotations

import base64
import json
from typing import Any

import httpx
import jwt
from tests.support.facade import Reachable, Show, StoredResources, User
from tests.support.waiting import wait_for

from onair_crds.shapes import Claims, JsonObject

TOKEN = "/live/v2/authentication/token"


def claims_of(token: str) -> Claims:
    payload = token.split(".")[1]
    claims: Claims = json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))
    return claims


def invitation(show: Show, role: str = "GUEST", **body: Any) -> JsonObject:
    """A body of CreateGuestAccessToken, in the form that every door takes; direct unless said otherwise."""
    kinds = {kind: body.pop(kind) for kind in ("direct", "exchange") if kind in body}
    body.setdefault("token", kinds or {"direct": {"displayName": "Ben"}})
    return {"collectionId": show.collection, "projectId": show.id, "role": f"ROLE_{role}", **body}


def invite(show: Show, role: str = "GUEST", *, by: User | None = None, **body: Any) -> User:
    """A guest of a project, as the show's user or another asks for it."""
    issuer = by or show.user
    response = issuer.ok("POST", "/authentication/token/guest", invitation(show, role, **body))
    return User(issuer.facade, response["accessToken"])


def seen_by(user: User, show: Show) -> Show:
    """The same project through the eyes of another."""
    return Show(user, show.collection, show.id)


def refresh(user: User, facade: Reachable | None = None) -> httpx.Response:
    facade = facade or user.facade
    return facade.http.put(TOKEN, headers=user.headers, content="{}")


def refreshed(user: User, facade: Reachable | None = None) -> User:
    """The user with the token that a refresh gives."""
    response = refresh(user, facade)
    assert (response.status_code, response.json()) == (200, {}), response.text
    return User(facade or user.facade, response.headers["Authorization"].removeprefix("Bearer "))


def private_key(resources: StoredResources) -> tuple[str, str]:
    """The signing key that signs, as PEM, and its id."""
    secrets = [s for s in resources.secrets(resources.release) if s["type"] == "onair.dev/signing-key"]
    newest = max(secrets, key=lambda s: (s["metadata"]["creationTimestamp"], s["metadata"]["name"]))
    return base64.b64decode(newest["data"]["private.pem"]).decode(), newest["metadata"]["name"]


def forged(user: User, key: Any, algorithm: str = "RS256", **changes: Any) -> User:
    """The user with claims changed and signed again."""
    claims = {**claims_of(user.token), **changes}
    kid = jwt.get_unverified_header(user.token)["kid"]
    return User(user.facade, jwt.encode(claims, key, algorithm=algorithm, headers={"kid": kid}))


def assert_error(response: httpx.Response, status: int, code: int) -> None:
    assert response.status_code == status, response.text
    body = response.json()
    assert set(body) == {"code", "message", "details"}
    assert body["code"] == code
    assert body["message"]
    assert "Traceback" not in response.text


def violations_of(response: httpx.Response) -> dict[str, str]:
    """The fields that an INVALID_ARGUMENT names, with what is wrong with each."""
    assert_error(response, 400, 3)
    return {v["field"]: v["description"] for v in response.json()["details"][0]["fieldViolations"]}


def fields_of(response: httpx.Response) -> set[str]:
    """The fields that an INVALID_ARGUMENT names."""
    return set(violations_of(response))


def wait_for_status(user: User, path: str, status: int) -> httpx.Response:
    """The response of a read, once it has the status: another replica is a watch delay behind."""
    return wait_for(
        lambda: (a := user.call("GET", path)).status_code == status and a, f"{path} responds with {status}"
    )
