"""Keys that sign access tokens: Secrets of the namespace of keys, any number valid at a time.

The newest signs, all verify, so adding a Secret rotates and deleting one ends
what it signed. The operator's key for tokens of pages is known by its public half.
The first facade that finds none makes one; its fixed name
decides between several that start together.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import time
from contextlib import suppress
from dataclasses import dataclass

import structlog
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from onair_api.cache.cluster import Cluster
from onair_api.cache.watched_kinds import BY_KIND, RENDERER_KEY, SIGNING_KEY
from onair_api.errors import Unavailable
from onair_crds.contract.json_web_keys import KEY_BITS, json_web_key
from onair_crds.contract.labels import MADE_BY_FACADE, SIGNING_KEY_TYPE
from onair_crds.contract.renderer_token import PUBLIC_PEM
from onair_crds.kube.apis import SECRETS
from onair_crds.kube.errors import ApiError
from onair_crds.kube.store import Entry
from onair_crds.shapes import Document

log = structlog.get_logger()

FIRST_NAME = "onair-signing-key"
DATA_KEY = "private.pem"
RELIST_INTERVAL_S = 2.0


@dataclass(frozen=True)
class VerifyingKey:
    """The public half of a key that tokens are signed with."""

    public: rsa.RSAPublicKey
    jwk: dict[str, str]

    @property
    def kid(self) -> str:
        return self.jwk["kid"]


@dataclass(frozen=True)
class SigningKey(VerifyingKey):
    """A key that this installation signs tokens with."""

    private: rsa.RSAPrivateKey


@dataclass(frozen=True)
class RendererPublicKey(VerifyingKey):
    """The public half of the operator's, which signs tokens of pages and no others."""


class SigningKeys:
    """All keys that tokens may be signed with; makes the first one."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._keys: dict[str, VerifyingKey] = {}
        self._newest: SigningKey | None = None
        self._loaded: dict[tuple[str, int], VerifyingKey] = {}
        self._deleted: set[str] = set()
        """Ids that tokens of this installation name, and that are no key's now."""
        self._relisted = 0.0
        self._finding = asyncio.Lock()
        self.generation = 0
        """Grows whenever the set of keys changes, so that verified tokens can be forgotten."""
        for kind in (SIGNING_KEY, RENDERER_KEY):
            cluster.view.on_change(kind, self._reload)

    async def ensure(self) -> None:
        """Makes the first key if there is none.

        Raises:
            ApiError: the API server refused it or did not respond.
        """
        if self._newest:
            return
        pem = await asyncio.to_thread(_new_pem)
        document: Document = {
            "apiVersion": "v1",
            "kind": "Secret",
            "type": SIGNING_KEY_TYPE,
            "immutable": True,
            "metadata": {"name": FIRST_NAME, "labels": {**MADE_BY_FACADE}},
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

    @property
    def can_sign(self) -> bool:
        """Whether there is a key for new tokens: that of pages' tokens is none."""
        return self._newest is not None

    def newest(self) -> SigningKey:
        """Returns the key that new tokens are signed with.

        Raises:
            Unavailable: there is no usable key.
        """
        if self._newest is None:
            raise Unavailable("this installation has no signing key; try again", retry_after_s=2)
        return self._newest

    async def find(self, kid: str) -> VerifyingKey | None:
        """The key of a token. One that is unknown here may have been added a moment ago."""
        if key := self._keys.get(kid):
            return key
        async with self._finding:  # who comes while others look takes what they find
            if kid not in self._keys and time.monotonic() - self._relisted >= RELIST_INTERVAL_S:
                with suppress(ApiError):
                    await self._relist()
        return self._keys.get(kid)

    def is_deleted(self, kid: str) -> bool:
        """Whether this replica knows that a key was deleted: at most one watch delay after it was."""
        return kid in self._deleted

    async def check(self, kid: str) -> bool:
        """Whether a key is there that something of ours names. One that is unknown may be a moment old.

        Raises:
            ApiError: the API server had to be asked and did not respond.
        """
        if kid in self._keys or not kid:
            return True
        if kid not in self._deleted:
            await self._relist()
            if kid not in self._keys:
                self._deleted.add(kid)
        return kid in self._keys

    async def _relist(self) -> None:
        self._relisted = time.monotonic()
        cluster = self._cluster
        for kind in (SIGNING_KEY, RENDERER_KEY):
            query = BY_KIND[kind].query
            listed = await cluster.client.list(SECRETS, cluster.namespace(kind), **query)
            for document in listed["items"]:
                cluster.view.put(kind, document)

    def jwks(self) -> list[dict[str, str]]:
        """The public keys, the newest last."""
        return [key.jwk for key in self._keys.values()]

    def _reload(self) -> None:
        view = self._cluster.view
        entries = sorted(view.all(SIGNING_KEY), key=lambda e: e.created)
        loads = [(_renderer_key, each) for each in view.all(RENDERER_KEY)]
        loads += [(_signing_key, each) for each in entries if not each.deleting]
        loaded = {
            version: key
            for load, entry in loads
            if (key := self._loaded.get(version := (entry.uid, entry.version)) or load(entry)) is not None
        }
        present = {key.kid: key for key in loaded.values()}
        self._deleted = (self._deleted | self._keys.keys()) - present.keys()
        self._loaded, self._keys = loaded, present
        self._newest = next((key for key in reversed(loaded.values()) if isinstance(key, SigningKey)), None)
        self.generation += 1


def _signing_key(entry: Entry) -> VerifyingKey | None:
    try:
        private = serialization.load_pem_private_key(_data(entry, DATA_KEY), password=None)
    except (KeyError, TypeError, ValueError, binascii.Error):
        private = None
    if isinstance(private, rsa.RSAPrivateKey) and private.key_size >= KEY_BITS:
        public = private.public_key()
        return SigningKey(public, json_web_key(public), private)
    log.warning("signing_key.unusable", secret=entry.name)
    return None


def _renderer_key(entry: Entry) -> VerifyingKey | None:
    try:
        public = serialization.load_pem_public_key(_data(entry, PUBLIC_PEM))
    except (KeyError, TypeError, ValueError, binascii.Error):
        public = None
    if isinstance(public, rsa.RSAPublicKey) and public.key_size >= KEY_BITS:
        return RendererPublicKey(public, json_web_key(public))
    log.warning("signing_key.unusable", secret=entry.name)
    return None


def _data(entry: Entry, key: str) -> bytes:
    return base64.b64decode((entry.document.get("data") or {})[key])


def _new_pem() -> bytes:
    return rsa.generate_private_key(public_exponent=65537, key_size=KEY_BITS).private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
