"""Keys that sign access tokens: Secrets of the release namespace, any number valid at a time.

The newest signs, all verify, so adding a Secret rotates and deleting one ends
what it signed. The first facade that finds none makes one; its fixed name
decides between several that start together.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import hashlib
import time
from dataclasses import dataclass

import structlog
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from onair_api.cache.cluster import Cluster
from onair_api.cache.watched_kinds import SIGNING_KEY
from onair_api.errors import Unavailable
from onair_crds.contract.labels import SIGNING_KEY_TYPE
from onair_crds.kube.apis import SECRETS
from onair_crds.kube.errors import ApiError
from onair_crds.kube.store import Entry
from onair_crds.shapes import Document

log = structlog.get_logger()

FIRST_NAME = "onair-signing-key"
DATA_KEY = "private.pem"
KEY_BITS = 2048
RELIST_INTERVAL_S = 2.0


@dataclass(frozen=True)
class SigningKey:
    kid: str
    private: rsa.RSAPrivateKey
    public: rsa.RSAPublicKey
    jwk: dict[str, str]


class SigningKeys:
    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._keys: dict[str, SigningKey] = {}
        self._newest: SigningKey | None = None
        self._loaded: dict[str, SigningKey] = {}
        self._relisted = 0.0
        self.generation = 0
        """Grows whenever the set of keys changes, so that verified tokens can be forgotten."""
        cluster.view.on_change(SIGNING_KEY, self._reload)

    async def ensure(self) -> None:
        """Makes the first key if there is none.

        Raises:
            ApiError: the API server refused it or did not respond.
        """
        if self._keys:
            return
        pem = await asyncio.to_thread(_new_pem)
        document: Document = {
            "apiVersion": "v1",
            "kind": "Secret",
            "type": SIGNING_KEY_TYPE,
            "immutable": True,
            "metadata": {"name": FIRST_NAME, "labels": {"app.kubernetes.io/managed-by": "onair-api"}},
            "data": {DATA_KEY: base64.b64encode(pem).decode()},
        }
        cluster = self._cluster
        namespace = cluster.namespace(SIGNING_KEY)
        try:
            created = await cluster.client.create(SECRETS, namespace, document)
            log.info("signing_key.created", secret=FIRST_NAME)
        except ApiError as error:
            if not error.already_exists:
                raise
            created = await cluster.client.get(SECRETS, namespace, FIRST_NAME)
        cluster.view.put(SIGNING_KEY, created)

    def newest(self) -> SigningKey:
        """
        Raises:
            Unavailable: there is no usable key.
        """
        if self._newest is None:
            raise Unavailable("this installation has no signing key; try again", retry_after_s=2)
        return self._newest

    async def find(self, kid: str) -> SigningKey | None:
        """The key of a token. One that is unknown here may have been added a moment ago."""
        key = self._keys.get(kid)
        if key or time.monotonic() - self._relisted < RELIST_INTERVAL_S:
            return key
        self._relisted = time.monotonic()
        cluster = self._cluster
        query = {"fieldSelector": f"type={SIGNING_KEY_TYPE}"}
        try:
            listed = await cluster.client.list(SECRETS, cluster.namespace(SIGNING_KEY), **query)
        except ApiError:
            return None
        for document in listed["items"]:
            cluster.view.put(SIGNING_KEY, document)
        return self._keys.get(kid)

    def jwks(self) -> list[dict[str, str]]:
        """The public keys, the newest last."""
        return [key.jwk for key in self._keys.values()]

    def _reload(self) -> None:
        entries = sorted(self._cluster.view.all(SIGNING_KEY), key=lambda e: e.created)
        loaded = {e.uid: key for e in entries if (key := self._loaded.get(e.uid) or _load(e)) is not None}
        self._loaded = loaded
        self._keys = {key.kid: key for key in loaded.values()}
        self._newest = next(reversed(loaded.values()), None)
        self.generation += 1


def _load(entry: Entry) -> SigningKey | None:
    try:
        pem = base64.b64decode((entry.document.get("data") or {})[DATA_KEY])
        private = serialization.load_pem_private_key(pem, password=None)
    except (KeyError, TypeError, ValueError, binascii.Error):
        log.warning("signing_key.unusable", secret=entry.name)
        return None
    if not isinstance(private, rsa.RSAPrivateKey) or private.key_size < KEY_BITS:
        log.warning("signing_key.unusable", secret=entry.name)
        return None
    public = private.public_key()
    numbers = public.public_numbers()
    e, n = _base64url(numbers.e), _base64url(numbers.n)
    kid = thumbprint(e, n)
    jwk = {"alg": "RS256", "kty": "RSA", "use": "sig", "kid": kid, "e": e, "n": n}
    return SigningKey(kid, private, public, jwk)


def thumbprint(e: str, n: str) -> str:
    """The JWK thumbprint (RFC 7638) of an RSA key."""
    digest = hashlib.sha256(f'{{"e":"{e}","kty":"RSA","n":"{n}"}}'.encode()).digest()
    return base64.urlsafe_b64encode(digest).rstrip(b"=").decode()


def _base64url(number: int) -> str:
    raw = number.to_bytes((number.bit_length() + 7) // 8, "big")
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


def _new_pem() -> bytes:
    return rsa.generate_private_key(public_exponent=65537, key_size=KEY_BITS).private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
