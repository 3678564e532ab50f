"""Every operation as every role, over HTTP; and tokens that are nobody's."""

from __future__ import annotations

import base64
import hmac
import json
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from tests.integration.api.facade import Cluster, Facade, Show, User
from tests.integration.api.tokens import (
    assert_error,
    claims_of,
    forged,
    invitation,
    invite,
    private_key,
    seen_by,
)

from onair_api.auth.roles import MAY, Operation
from onair_crds.enums import Role

O = Operation  # noqa: E741

LATER = 400
"""FAILED_PRECONDITION: allowed, and not possible here."""


@dataclass(frozen=True)
class Call:
    method: str
    path: str
    """`{c}` collection, `{p}` project, `{d}` destination, `{s}` source, `{l}` layout, `{k}` layer."""
    body: Any = None
    status: int = 200
    """For who may."""


COLLECTION = "/live/v2/collection/{c}"
PROJECT = f"{COLLECTION}/project/{{p}}"
TOKENS = "/live/v2/authentication/token"
LAYOUT = "/layout/v2/layouts/{l}"
ADDRESS = {"address": {"rtmpPush": {"url": "rtmp://a.example/live"}}}

CALLS = {
    O.GET_COLLECTIONS: Call("GET", "/live/v2/collection"),
    O.CREATE_COLLECTION: Call("POST", "/live/v2/collection", {}),
    O.GET_COLLECTION: Call("GET", COLLECTION),
    O.UPDATE_COLLECTION: Call("PATCH", COLLECTION, {"metadata": 1}),
    O.CREATE_PROJECT: Call("POST", f"{COLLECTION}/project", {}),
    O.GET_PROJECT: Call("GET", PROJECT),
    O.UPDATE_PROJECT: Call("PATCH", PROJECT, {"metadata": 1}),
    O.GET_PROJECT_BROADCAST_STATUS: Call("GET", f"{PROJECT}/broadcast/status"),
    O.GET_PROJECT_BROADCAST_SNAPSHOT: Call("GET", f"{PROJECT}/broadcast/snapshot", status=LATER),
    O.START_PROJECT_WEBRTC: Call("PUT", f"{PROJECT}/webrtc/start", status=LATER),
    O.STOP_PROJECT_WEBRTC: Call("PUT", f"{PROJECT}/webrtc/stop", status=LATER),
    O.CREATE_WEBRTC_ACCESS_TOKEN: Call("POST", f"{PROJECT}/webrtc/token", {"displayName": "B"}, LATER),
    O.CREATE_DESTINATION: Call("POST", f"{PROJECT}/destination", ADDRESS),
    O.GET_DESTINATION: Call("GET", f"{PROJECT}/destination/{{d}}"),
    O.UPDATE_DESTINATION: Call("PATCH", f"{PROJECT}/destination/{{d}}", {"metadata": 1}),
    O.GET_SOURCES: Call("GET", f"{COLLECTION}/source"),
    O.CREATE_SOURCE: Call("POST", f"{COLLECTION}/source", {"address": {"rtmpPush": {}}}),
    O.GET_SOURCE: Call("GET", f"{COLLECTION}/source/{{s}}"),
    O.UPDATE_SOURCE: Call("PATCH", f"{COLLECTION}/source/{{s}}", {"metadata": 1}),
    O.ADD_SOURCE_TO_PROJECT: Call("PUT", f"{PROJECT}/source/{{s}}", {}),
    O.UPDATE_SOURCE_IN_PROJECT: Call("PATCH", f"{PROJECT}/source/{{s}}", {"trigger": {}}),
    O.REMOVE_SOURCE_FROM_PROJECT: Call("DELETE", f"{PROJECT}/source/{{s}}"),
    O.REFRESH_ACCESS_TOKEN: Call("PUT", TOKENS, {}),
    O.CREATE_GUEST_ACCESS_TOKEN: Call(
        "POST", f"{TOKENS}/guest", {"collectionId": "{c}", "projectId": "{p}", "role": "V", "direct": {}}
    ),
    O.CREATE_GUEST_CODE: Call(
        "POST", f"{TOKENS}/guest-code", {"collectionId": "{c}", "projectId": "{p}", "url": "http://a.b"}
    ),
    O.GET_GUEST_CODE: Call("GET", f"{TOKENS}/guest-code/{{code}}"),
    O.DELETE_GUEST_CODE: Call("DELETE", f"{TOKENS}/guest-code/{{code}}"),
    O.LIST_LAYOUTS: Call("GET", "/layout/v2/layouts?projectId={p}&collectionId={c}"),
    O.CREATE_LAYOUT: Call("POST", "/layout/v2/layouts", {"collectionId": "{c}", "projectId": "{p}"}),
    O.GET_LAYOUT: Call("GET", LAYOUT),
    O.UPDATE_LAYOUT: Call("PATCH", LAYOUT, {"metadata": {}}),
    O.LIST_LAYERS: Call("GET", f"{LAYOUT}/layers"),
    O.CREATE_LAYER: Call("POST", f"{LAYOUT}/layers", {"type": "image"}),
    O.BATCH: Call("POST", f"{LAYOUT}/layers/batch", {"layers": []}),
    O.GET_LAYER: Call("GET", f"{LAYOUT}/layers/{{k}}"),
    O.UPDATE_LAYER: Call("PATCH", f"{LAYOUT}/layers/{{k}}", {"x": 1}),
    O.DELETE_LAYER: Call("DELETE", f"{LAYOUT}/layers/{{k}}"),
    O.DELETE_LAYOUT: Call("DELETE", LAYOUT),
    O.PUBLISH_EVENT: Call("POST", "/event/v2/publish", {"name": "a", "payload": {}}, status=0),
    O.DELETE_DESTINATION: Call("DELETE", f"{PROJECT}/destination/{{d}}?force=true"),
    O.START_PROJECT_BROADCAST: Call("POST", f"{PROJECT}/broadcast/start"),
    O.STOP_PROJECT_BROADCAST: Call("POST", f"{PROJECT}/broadcast/stop"),
    O.DELETE_SOURCE: Call("DELETE", f"{COLLECTION}/source/{{s}}?force=true"),
    O.DELETE_PROJECT: Call("DELETE", f"{PROJECT}?force=true"),
    O.DELETE_COLLECTION: Call("DELETE", f"{COLLECTION}?force=true"),
}
"""In an order in which all can succeed. A status of 0 is any that is neither 401 nor 403."""

STREAMED = {O.STREAM_EVENTS}
"""Tells a refusal on the stream, not by a status: tests of the stream have it."""


class World:
    """A project with one of everything, and an id for each."""

    def __init__(self, host: User, served: set[str]) -> None:
        self.host, self.show = host, host.project()
        collection = f"/collection/{self.show.collection}"
        source = host.ok("POST", f"{collection}/source", {"address": {"srtPush": {}}})["source"]["sourceId"]
        self.ids = {
            "c": self.show.collection,
            "p": self.show.id,
            "d": self.show.destination()["destinationId"],
            "s": source,
            "code": host.ok(
                "POST",
                "/authentication/token/guest-code",
                {**invitation(self.show), "url": "https://a.example"},
            )["guestCode"]["code"],
            "l": "layout",
            "k": "layer",
        }
        host.ok("PUT", f"{self.show.path}/source/{source}")
        if O.CREATE_LAYER in served:
            self._add_layout()

    def _add_layout(self) -> None:
        def post(path: str, body: Any) -> str:
            http, headers = self.host.facade.http, self.host.headers
            answer = http.post(f"/layout/v2/layouts{path}", headers=headers, content=json.dumps(body))
            assert answer.status_code == 200, answer.text
            return str(answer.json()["id"])

        self.ids["l"] = post("", {"collectionId": self.show.collection, "projectId": self.show.id})
        self.ids["k"] = post(f"/{self.ids['l']}/layers", {"type": "image"})

    def call(self, user: User, call: Call) -> Any:
        body = json.dumps(call.body).replace('"V"', '"ROLE_VIEWER"') if call.body is not None else None
        path = call.path
        for name, value in self.ids.items():
            path = path.replace(f"{{{name}}}", value)
            body = body and body.replace(f'"{{{name}}}"', f'"{value}"')
        return user.facade.http.request(call.method, path, content=body, headers=user.headers)


@pytest.fixture(scope="module")
def served(facade: Facade) -> set[str]:
    """Operations that this facade offers."""
    paths = facade.http.get("/openapi.json").json()["paths"]
    return {op.get("operationId", "") for path in paths.values() for op in path.values()}


def test_the_matrix_has_every_operation() -> None:
    assert set(CALLS) | STREAMED == set(Operation)


@pytest.mark.parametrize("role", [role for role in Role if role is not Role.PLATFORM])
def test_the_matrix(role: Role, sign_in: Callable[..., User], served: set[str]) -> None:
    """Who is not allowed is told so and changes nothing: whoever comes later in the list still can."""
    name = f"user-{secrets.token_hex(4)}"
    world = World(sign_in(name), served)
    if role in (Role.HOST, Role.IMPERSONATE):
        caller = sign_in(name, role=role.wire)
    else:
        caller = invite(world.show, role.name, exchange={})
        answer = caller.call("PUT", "/authentication/token", {})
        caller = User(caller.facade, answer.headers["Authorization"].removeprefix("Bearer "))
    for operation, call in CALLS.items():
        if operation not in served:
            continue
        answer = world.call(caller, call)
        if operation not in MAY[role]:
            assert_error(answer, 403, 7)
        elif call.status:
            assert answer.status_code == call.status, (role, operation, answer.text)
        else:
            assert answer.status_code not in (401, 403), (role, operation, answer.text)
        if operation in MAY[role] and operation is O.DELETE_COLLECTION:
            break


@pytest.fixture(scope="module")
def world(sign_in: Callable[..., User], served: set[str]) -> World:
    return World(sign_in(), served)


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


def test_forged_tokens_open_nothing(world: World, served: set[str], cluster: Cluster) -> None:
    host = world.host
    pem, _ = private_key(cluster)
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
                answer = world.call(user, call)
                assert answer.status_code == 401, (what, operation, answer.text)
                assert_error(answer, 401, 16)


def test_strangers_find_nothing(
    world: World, served: set[str], sign_in: Callable[..., User], cluster: Cluster
) -> None:
    """Tokens of another user, another service and another project."""
    sibling = world.host.project(world.show.collection)
    named = claims_of(world.host.token)["user"]["serviceUserId"]
    strangers = [
        sign_in(),
        sign_in(named, key=cluster.add_api_key("elsewhere")),
        invite(sibling, "COHOST"),
        invite(sign_in().project(), "COHOST"),
    ]
    beside = {O.GET_COLLECTIONS, O.CREATE_COLLECTION, O.REFRESH_ACCESS_TOKEN, O.PUBLISH_EVENT}
    for user in strangers:
        role = Role.from_wire(claims_of(user.token)["role"]) or Role.HOST
        for operation, call in CALLS.items():
            if operation not in served or operation in beside:
                continue
            answer = world.call(user, call)
            if operation is O.LIST_LAYOUTS:
                assert answer.json() == [], "a filter that names another's project finds none"
            else:
                assert_error(answer, *((404, 5) if operation in MAY[role] else (403, 7)))
    assert seen_by(world.host, world.show).get(), "nothing was changed"


def test_a_role_that_was_written_in_is_worth_nothing(world: World) -> None:
    guest = invite(world.show, "VIEWER")
    head, _, signature = guest.token.split(".")
    claims = {**claims_of(guest.token), "role": "ROLE_HOST", "guestControl": None}
    payload = base64.urlsafe_b64encode(json.dumps(claims).encode()).rstrip(b"=").decode()
    assert_error(User(guest.facade, f"{head}.{payload}.{signature}").call("GET", "/collection"), 401, 16)


def test_the_platforms_role_cannot_be_had_and_opens_nothing(
    world: World, cluster: Cluster, facade: Facade, api_key: str
) -> None:
    answer = facade.http.post(
        TOKENS, headers={"X-API-Key": api_key}, json={"serviceUserId": "a", "role": "ROLE_PLATFORM"}
    )
    assert_error(answer, 403, 7)
    pem, _ = private_key(cluster)
    assert_error(forged(world.host, pem, role="ROLE_PLATFORM").call("GET", world.show.path), 403, 7)


@pytest.mark.parametrize("role", ["HOST", "COHOST", "CONTRIBUTOR", "GUEST", "VIEWER", "RENDERER"])
def test_secrets_are_left_out_for_all_but_hosts_and_co_hosts(world: World, role: str) -> None:
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


def test_a_host_sees_the_secrets_of_his_own(world: World) -> None:
    show: Show = world.show
    assert show.get()["project"]["destinations"][0]["address"]["rtmpPush"]["key"] == "k-1"
