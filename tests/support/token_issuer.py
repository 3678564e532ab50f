"""Tokens as a facade issues them, without a cluster: a clock to set, keys to add."""

from __future__ import annotations

import base64
from typing import Any

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from tests.support.settable_clock import SettableClock

from onair_api.auth.identity import ALL_SCOPES, Identity
from onair_api.auth.signing_keys import SigningKeys
from onair_api.auth.tokens import Tokens
from onair_api.cache.cluster import Cluster
from onair_api.cache.watched_kinds import SIGNING_KEY
from onair_api.settings import Settings, TokenSettings
from onair_crds.resources.enums import Role
from onair_crds.shapes import Document

ANNA = Identity("studio", "anna", "Anna", Role.HOST, ALL_SCOPES)


DAY_MS = 86_400_000


START = 1_800_000_000.0


def pem(key: rsa.RSAPrivateKey) -> bytes:
    return key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )


PRIVATE_KEYS = [rsa.generate_private_key(public_exponent=65537, key_size=2048) for _ in range(2)]


def secret(name: str, version: int, data: dict[str, bytes]) -> Document:
    created = f"2026-01-01T00:00:{version:02}Z"
    metadata = {"name": name, "uid": name, "resourceVersion": str(version), "creationTimestamp": created}
    return {"metadata": metadata, "data": {k: base64.b64encode(v).decode() for k, v in data.items()}}


class TokenIssuer:
    """Keys as the cluster has them, without one."""

    def __init__(self, **settings: Any) -> None:
        self.cluster = Cluster(None, Settings())  # type: ignore[arg-type]
        self.clock = SettableClock(START)
        self.keys = SigningKeys(self.cluster)
        self.keys._relisted = float("inf")  # an unknown key is not looked for: there is no API server
        self.add_key("one", 1, PRIVATE_KEYS[0])
        self.tokens = Tokens(self.keys, TokenSettings(**settings), self.clock)

    def add_key(self, name: str, version: int, key: rsa.RSAPrivateKey) -> None:
        self.cluster.view.put(SIGNING_KEY, secret(name, version, {"private.pem": pem(key)}))

    async def verify(self, token: str) -> Identity:
        return (await self.tokens.verify(f"Bearer {token}")).identity
