"""Access tokens: what verifies, what does not, and what a renewal keeps."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from onair_api.auth.api_keys import ApiKeys, Backend
from onair_api.auth.identity import ALL_SCOPES, SCOPE_CREATE, Identity
from onair_api.auth.signing_keys import SigningKeys
from onair_api.auth.tokens import Tokens
from onair_api.cache.cluster import Cluster
from onair_api.cache.kinds import API_KEY, SIGNING_KEY
from onair_api.errors import InvalidArgument, PermissionDenied, Unauthenticated
from onair_api.live.authentication.requests import backend_request
from onair_api.live.authentication.service import backend_identity
from onair_api.settings import MAX_TOKEN_DURATION_MS, Settings, TokenSettings
from onair_crds.resources.enums import Role

ANNA = Identity("studio", "anna", "Anna", Role.HOST, ALL_SCOPES)
DAY_MS = 86_400_000
START = 1_800_000_000.0


class Clock:
    now = START

    def __call__(self) -> float:
        return self.now


def pem(key: rsa.RSAPrivateKey) -> bytes:
    return key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )


PRIVATE_KEYS = [rsa.generate_private_key(public_exponent=65537, key_size=2048) for _ in range(2)]


def secret(name: str, version: int, data: dict[str, bytes]) -> dict[str, Any]:
    created = f"2026-01-01T00:00:{version:02}Z"
    metadata = {"name": name, "uid": name, "resourceVersion": str(version), "creationTimestamp": created}
    return {"metadata": metadata, "data": {k: base64.b64encode(v).decode() for k, v in data.items()}}


class World:
    """Keys as the cluster has them, without one."""

    def __init__(self, **settings: Any) -> None:
        self.cluster = Cluster(None, Settings())  # type: ignore[arg-type]
        self.clock = Clock()
        self.keys = SigningKeys(self.cluster)
        self.keys._relisted = float("inf")  # an unknown key is not looked for: there is no API server
        self.add_key("one", 1, PRIVATE_KEYS[0])
        self.tokens = Tokens(self.keys, TokenSettings(**settings), self.clock)

    def add_key(self, name: str, version: int, key: rsa.RSAPrivateKey) -> None:
        self.cluster.view.put(SIGNING_KEY, secret(name, version, {"private.pem": pem(key)}))

    async def verify(self, token: str) -> Identity:
        return (await self.tokens.verify(f"Bearer {token}")).identity


@pytest.fixture
def world() -> World:
    return World()


def claims_of(token: str) -> dict[str, Any]:
    payload = token.split(".")[1]
    claims: dict[str, Any] = json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))
    return claims


def forged(world: World, key: Any, algorithm: str = "RS256", kid: str | None = None, **changes: Any) -> str:
    claims = {**claims_of(world.tokens.issue(ANNA, DAY_MS)), **changes}
    kid = kid or world.keys.newest().kid
    claims = {name: value for name, value in claims.items() if value is not None}
    return jwt.encode(claims, key, algorithm=algorithm, headers={"kid": kid})


async def test_a_token_says_who_calls(world: World) -> None:
    assert await world.verify(world.tokens.issue(ANNA, DAY_MS)) == ANNA


def test_the_claims_are_those_of_the_interface(world: World) -> None:
    claims = claims_of(world.tokens.issue(ANNA, DAY_MS))
    assert claims["iss"] == "onair"
    assert claims["exp"] - claims["iat"] == DAY_MS / 1000
    assert claims["role"] == "ROLE_HOST"
    assert claims["scopes"] == [SCOPE_CREATE]
    assert claims["sub"] == claims["user"]["userId"]
    assert claims["user"] | {"userId": ""} == {
        "userId": "",
        "serviceUserId": "anna",
        "displayName": "Anna",
        "serviceId": "studio",
        "trial": False,
        "demo": False,
    }


@pytest.mark.parametrize(
    "header",
    [
        None,
        "",
        "Bearer",
        "Bearer ",
        "Bearer undefined",
        "Basic abc",
        "Bearer a.b.c",
        "Bearer é",
        "Bearer " + "x" * 9000,
    ],
)
async def test_what_is_no_token_is_refused(world: World, header: str | None) -> None:
    with pytest.raises(Unauthenticated):
        await world.tokens.verify(header)


@pytest.mark.parametrize(
    "changes",
    [
        {"iss": "somebody"},
        {"iss": None},
        {"exp": None},
        {"iat": None},
        {"sub": None},
        {"jti": None},
        {"user": None},
        {"user": {}},
        {"user": "anna"},
        {"scopes": None},
        {"role": "ROLE_KING"},
        {"role": None},
        {"exp": "soon"},
        {"exp": START - 1},
    ],
)
async def test_a_well_signed_token_with_wrong_claims_is_refused(
    world: World, changes: dict[str, Any]
) -> None:
    with pytest.raises(Unauthenticated):
        await world.verify(forged(world, PRIVATE_KEYS[0], **changes))


async def test_a_token_signed_by_another_key_is_refused(world: World) -> None:
    with pytest.raises(Unauthenticated):
        await world.verify(forged(world, PRIVATE_KEYS[1]))


async def test_an_unsigned_token_is_refused(world: World) -> None:
    with pytest.raises(Unauthenticated):
        await world.verify(forged(world, None, "none"))


async def test_the_public_key_is_no_shared_secret(world: World) -> None:
    public = PRIVATE_KEYS[0].public_key()
    text = public.public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)

    def part(value: Any) -> bytes:
        return base64.urlsafe_b64encode(json.dumps(value).encode()).rstrip(b"=")

    head = part({"alg": "HS256", "typ": "JWT", "kid": world.keys.newest().kid})
    signed = head + b"." + part(claims_of(world.tokens.issue(ANNA, DAY_MS)))
    signature = base64.urlsafe_b64encode(hmac.digest(text, signed, "sha256")).rstrip(b"=")
    with pytest.raises(Unauthenticated):
        await world.verify((signed + b"." + signature).decode())


async def test_a_token_ends_also_when_it_is_remembered(world: World) -> None:
    token = world.tokens.issue(ANNA, 60_000)
    await world.verify(token)
    world.clock.now += 59
    await world.verify(token)
    world.clock.now += 1
    with pytest.raises(Unauthenticated, match="expired"):
        await world.verify(token)


async def test_a_new_key_signs_and_the_old_one_still_verifies(world: World) -> None:
    old = world.tokens.issue(ANNA, DAY_MS)
    world.add_key("two", 2, PRIVATE_KEYS[1])
    new = world.tokens.issue(ANNA, DAY_MS)
    assert jwt.get_unverified_header(old)["kid"] != jwt.get_unverified_header(new)["kid"]
    assert await world.verify(old) == await world.verify(new) == ANNA
    assert [key["kid"] for key in world.keys.jwks()] == [
        jwt.get_unverified_header(token)["kid"] for token in (old, new)
    ]


async def test_a_removed_key_ends_its_tokens_also_those_remembered(world: World) -> None:
    token = world.tokens.issue(ANNA, DAY_MS)
    await world.verify(token)
    world.add_key("two", 2, PRIVATE_KEYS[1])
    world.cluster.view.remove(SIGNING_KEY, "one", "one")
    with pytest.raises(Unauthenticated):
        await world.verify(token)


def test_a_broken_key_is_left_out(world: World) -> None:
    world.cluster.view.put(SIGNING_KEY, secret("broken", 3, {"private.pem": b"nonsense"}))
    world.cluster.view.put(SIGNING_KEY, secret("empty", 4, {}))
    assert len(world.keys.jwks()) == 1
    assert set(world.keys.jwks()[0]) == {"alg", "kty", "use", "kid", "e", "n"}


async def test_remembered_tokens_are_bounded() -> None:
    world = World(cache_size=3)
    for _ in range(10):
        await world.verify(world.tokens.issue(ANNA, DAY_MS))
    assert len(world.tokens._cache) == 3


async def test_a_renewal_keeps_the_grants_and_the_length(world: World) -> None:
    first = world.tokens.issue(ANNA, DAY_MS)
    world.clock.now += 3600
    second = world.tokens.renew(await world.tokens.verify(f"Bearer {first}"))
    assert await world.verify(second) == ANNA
    assert claims_of(second)["exp"] - claims_of(second)["iat"] == DAY_MS / 1000
    assert claims_of(second)["jti"] != claims_of(first)["jti"]


async def test_renewals_end_seven_days_after_the_first_issue(world: World) -> None:
    token = world.tokens.issue(ANNA, DAY_MS)
    for _ in range(20):
        world.clock.now = claims_of(token)["exp"] - 1
        renewed = world.tokens.renew(await world.tokens.verify(f"Bearer {token}"))
        if claims_of(renewed)["exp"] == claims_of(token)["exp"]:
            break
        token = renewed
    assert claims_of(token)["exp"] == START + MAX_TOKEN_DURATION_MS / 1000


BACKEND = Backend("studio", ALL_SCOPES)
SETTINGS = TokenSettings(default_duration_ms=DAY_MS)


@pytest.mark.parametrize(
    ("body", "fields"),
    [
        ({}, ["serviceUserId"]),
        ({"serviceUserId": ""}, ["serviceUserId"]),
        ({"serviceUserId": "a b"}, ["serviceUserId"]),
        ({"serviceUserId": 5}, ["serviceUserId"]),
        ({"serviceUserId": "a" * 257}, ["serviceUserId"]),
        ({"serviceUserId": "a", "displayName": []}, ["displayName"]),
        ({"serviceUserId": "a", "role": "HOST"}, ["role"]),
        ({"serviceUserId": "a", "maxDuration": 0}, ["maxDuration"]),
        ({"serviceUserId": "a", "maxDuration": 604_800_001}, ["maxDuration"]),
        ({"serviceUserId": "a", "maxDuration": "x"}, ["maxDuration"]),
        ({"serviceUserId": "a", "maxDuration": True}, ["maxDuration"]),
        ({"role": "x", "maxDuration": -1}, ["serviceUserId", "role", "maxDuration"]),
    ],
)
def test_a_wrong_request_names_every_field(body: dict[str, Any], fields: list[str]) -> None:
    with pytest.raises(InvalidArgument) as caught:
        backend_request(body, SETTINGS)
    assert [v.field for v in caught.value.violations] == fields


@pytest.mark.parametrize(
    ("body", "role", "duration_ms", "scopes"),
    [
        ({}, Role.HOST, DAY_MS, ALL_SCOPES),
        ({"role": "ROLE_UNSPECIFIED", "maxDuration": "5000"}, Role.HOST, 5000, ALL_SCOPES),
        ({"role": "ROLE_VIEWER", "maxDuration": 604_800_000}, Role.VIEWER, 604_800_000, ()),
    ],
)
def test_what_a_backend_is_granted(
    body: dict[str, Any], role: Role, duration_ms: int, scopes: tuple[str, ...]
) -> None:
    asked = backend_request({"serviceUserId": "anna", **body}, SETTINGS)
    identity = backend_identity(BACKEND, asked)
    assert (identity.role, asked.duration_ms, identity.scopes) == (role, duration_ms, scopes)
    assert identity.owner == ("studio", "anna")


def test_no_backend_becomes_the_platform() -> None:
    with pytest.raises(PermissionDenied):
        backend_identity(BACKEND, backend_request({"serviceUserId": "a", "role": "ROLE_PLATFORM"}, SETTINGS))


def test_an_api_key_is_known_by_its_hash_alone() -> None:
    cluster = Cluster(None, Settings())  # type: ignore[arg-type]
    api_keys = ApiKeys(cluster.view)
    digest = hashlib.sha256(b"the-key").hexdigest().encode()
    cluster.view.put(API_KEY, secret("good", 1, {"serviceId": b"studio", "hash": digest}))
    cluster.view.put(API_KEY, secret("bad", 2, {"serviceId": b"studio", "hash": b"short"}))
    cluster.view.put(
        API_KEY,
        secret(
            "mute",
            3,
            {"serviceId": b"mute", "hash": hashlib.sha256(b"m").hexdigest().encode(), "scopes": b""},
        ),
    )
    assert api_keys.backend_of("the-key") == Backend("studio", ALL_SCOPES)
    assert api_keys.backend_of("m") == Backend("mute", ())
    for wrong in (None, "", "the-key ", digest.decode(), "short"):
        with pytest.raises(Unauthenticated):
            api_keys.backend_of(wrong)
    cluster.view.remove(API_KEY, "good", "good")
    with pytest.raises(Unauthenticated):
        api_keys.backend_of("the-key")
