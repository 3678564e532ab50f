"""Every operation as every role, over HTTP; and tokens that are nobody's."""

from __future__ import annotations

import base64
import hmac
import json
import secrets
from collections.abc import Callable
from typing import Any

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from tests.support.doors import DOOR, OVER_HTTP, RPC, Reason
from tests.support.facade import FacadeThread, Show, StoredResources, User
from tests.support.operations import CALLS, STREAMED, TOKEN_OPERATIONS, TOKENS, OperationWorld
from tests.support.tokens import assert_error, claims_of, forged, invite, private_key, seen_by
from tests.support.who_may import WHO_MAY

from onair_crds.resources.enums import Role


@pytest.fixture(scope="module")
def served(facade: FacadeThread) -> set[str]:
    """Operations that this facade offers."""
    paths = facade.http.get("/openapi.json").json()["paths"]
    return {op.get("operationId", "") for path in paths.values() for op in path.values()}


def test_the_matrix_has_every_operation() -> None:
    assert set(CALLS) | STREAMED == TOKEN_OPERATIONS


@pytest.mark.parametrize("role", [role for role in Role if role is not Role.PLATFORM])
def test_the_matrix(role: Role, sign_in: Callable[..., User], served: set[str]) -> None:
    """A caller without the role is refused and changes nothing: those later in the list still can."""
    name = f"user-{secrets.token_hex(4)}"
    world = OperationWorld(sign_in(name), served)
    if role in (Role.HOST, Role.IMPERSONATE):
        caller = sign_in(name, role=role.wire)
    else:
        caller = invite(world.show, role.name, exchange={})
        response = caller.call("PUT", "/authentication/token", {})
        caller = User(caller.facade, response.headers["Authorization"].removeprefix("Bearer "))
    for operation, call in CALLS.items():
        if operation not in served:
            continue
        response = world.call(caller, call)
        if operation not in WHO_MAY[role]:
            assert_error(response, 403, 7)
        elif call.status:
            assert response.status_code == call.status, (role, operation, response.text)
        else:
            assert response.status_code not in (401, 403), (role, operation, response.text)


def test_every_operation_is_called_through_rpc(
    door: str, sign_in: Callable[..., User], served: set[str]
) -> None:
    before = DOOR.calls.copy()
    world = OperationWorld(sign_in(), served)
    for call in CALLS.values():
        world.call(world.host, call)
    called = set(DOOR.calls - before)
    assert called == (TOKEN_OPERATIONS - STREAMED if door == RPC else set())
    assert not DOOR.over_http


def test_a_call_that_rpc_cannot_send_is_known(door: str, show: Show) -> None:
    """Tests fail where one succeeds that is not listed."""
    show.user.ok("POST", f"/collection/{show.collection}/project", {"of_tomorrow": 1})
    assert DOOR.over_http == ({("CreateProject", Reason.NO_FIELD)} if door == RPC else set())
    assert not DOOR.over_http & OVER_HTTP
    DOOR.over_http.clear()


@pytest.fixture(scope="module")
def world(sign_in: Callable[..., User], served: set[str]) -> OperationWorld:
    return OperationWorld(sign_in(), served)


def public_pem(pem: str) -> bytes:
    key = serialization.load_pem_private_key(pem.encode(), None)
    return key.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )


def hs256(user: User, key: bytes) -> User:
    """Signed with a shared secret that is the public key: what careless verifiers accept."""

    def part(value: Any) -> bytes:
        return base64.urlsafe_b64encode(json.dumps(value).encode()).rstrip(b"=")

    head = json.loads(base64.urlsafe_b64decode(user.token.split(".")[0] + "=="))
    signed = part({**head, "alg": "HS256"}) + b"." + part(claims_of(user.token))
    signature = base64.urlsafe_b64encode(hmac.digest(key, signed, "sha256")).rstrip(b"=")
    return User(user.facade, (signed + b"." + signature).decode())


def test_forged_tokens_open_nothing(
    world: OperationWorld, served: set[str], resources: StoredResources
) -> None:
    host = world.host
    pem, _ = private_key(resources)
    now = claims_of(host.token)["iat"]
    assert forged(host, pem).ok("GET", world.show.path), "a token that is signed like this is good"
    nobody = {
        "expired": forged(host, pem, iat=now - 100, exp=now - 1),
        "wrongly signed": forged(host, rsa.generate_private_key(public_exponent=65537, key_size=2048)),
        "unsigned": forged(host, None, "none"),
        "signed with the public key": hs256(host, public_pem(pem)),
        "of another issuer": forged(host, pem, iss="somebody"),
        "cut short": User(host.facade, host.token[:-4]),
    }
    for what, user in nobody.items():
        for operation, call in CALLS.items():
            if operation in served:
                response = world.call(user, call)
                assert response.status_code == 401, (what, operation, response.text)
                assert_error(response, 401, 16)


def test_strangers_find_nothing(
    world: OperationWorld, served: set[str], sign_in: Callable[..., User], resources: StoredResources
) -> None:
    """Tokens of another user, another service and another project."""
    sibling = world.host.project(world.show.collection)
    named = claims_of(world.host.token)["user"]["serviceUserId"]
    strangers = [
        sign_in(),
        sign_in(named, key=resources.add_api_key("elsewhere")),
        invite(sibling, "COHOST"),
        invite(sign_in().project(), "COHOST"),
    ]
    beside = {"GetCollections", "CreateCollection", "RefreshAccessToken", "PublishEvent", "RevokeAccessToken"}
    for user in strangers:
        role = Role.from_wire(claims_of(user.token)["role"]) or Role.HOST
        for operation, call in CALLS.items():
            if operation not in served or operation in beside:
                continue
            response = world.call(user, call)
            if operation in ("ListLayouts", "GetGuestCodes") and operation in WHO_MAY[role]:
                found = response.json()
                assert found in ([], {"guestCodes": []}), "a filter that names another's project finds none"
            else:
                assert_error(response, *((404, 5) if operation in WHO_MAY[role] else (403, 7)))
    assert seen_by(world.host, world.show).get(), "nothing was changed"


def test_a_role_that_was_written_in_is_worth_nothing(world: OperationWorld) -> None:
    guest = invite(world.show, "VIEWER")
    head, _, signature = guest.token.split(".")
    claims = {**claims_of(guest.token), "role": "ROLE_HOST", "guestControl": None}
    payload = base64.urlsafe_b64encode(json.dumps(claims).encode()).rstrip(b"=").decode()
    assert_error(User(guest.facade, f"{head}.{payload}.{signature}").call("GET", "/collection"), 401, 16)


def test_the_platforms_role_cannot_be_had_and_opens_nothing(
    world: OperationWorld, resources: StoredResources, facade: FacadeThread, api_key: str
) -> None:
    response = facade.http.post(
        TOKENS, headers={"X-API-Key": api_key}, json={"serviceUserId": "a", "role": "ROLE_PLATFORM"}
    )
    assert_error(response, 403, 7)
    pem, _ = private_key(resources)
    assert_error(forged(world.host, pem, role="ROLE_PLATFORM").call("GET", world.show.path), 403, 7)


@pytest.mark.parametrize("role", ["HOST", "COHOST", "CONTRIBUTOR", "GUEST", "VIEWER", "RENDERER"])
def test_secrets_are_left_out_for_all_but_hosts_and_co_hosts(world: OperationWorld, role: str) -> None:
    guest = invite(world.show, role)
    project = seen_by(guest, world.show).get()["project"]
    push = project["destinations"][0]["address"]["rtmpPush"]
    source = project["sources"][0]["address"]["srtPush"]
    if role in ("HOST", "COHOST"):
        assert push["key"] == "k-1"
        assert {"streamId", "url"} <= set(source)
        assert project["guestCodes"]
    else:
        assert "key" not in push
        assert set(source) == {"enabled", "baseUrl"}
        assert project["guestCodes"] == []


def test_a_host_sees_the_secrets_of_his_own(world: OperationWorld) -> None:
    show: Show = world.show
    assert show.get()["project"]["destinations"][0]["address"]["rtmpPush"]["key"] == "k-1"
