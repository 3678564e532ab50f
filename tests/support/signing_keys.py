"""Keys that sign access tokens, added to a cluster for a test and gone after it."""

from __future__ import annotations

import base64
from functools import partial
from types import TracebackType
from typing import Self

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from tests.support.facade import FacadeThread, StoredResources
from tests.support.waiting import wait_for

from onair_api.auth.signing_keys import DATA_KEY, SigningKeys
from onair_api.cache.view import View
from onair_api.cache.watched_kinds import SIGNING_KEY
from onair_crds.contract.json_web_keys import KEY_BITS, json_web_key
from onair_crds.contract.labels import SIGNING_KEY_TYPE


class AddedSigningKey:
    """The newest key of replicas: they sign with it from the beginning of its context on."""

    def __init__(self, resources: StoredResources, name: str, *facades: FacadeThread) -> None:
        """`name` comes after those of other keys in order, for keys that are made in one second."""
        self._cluster, self._name, self._facades = resources, name, facades
        self._path = f"/api/v1/namespaces/{resources.release}/secrets"
        self._private = new_key()

    def __enter__(self) -> Self:
        self.add()
        for facade in self._facades:
            wait_for(partial(self._signs, facade.services.keys), "the new key signs")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._cluster.admin.delete(f"{self._path}/{self._name}")
        for facade in self._facades:
            wait_for(partial(self._gone, facade.view), "the key is gone")

    def add(self) -> None:
        self._cluster.add_secret(
            self._cluster.release, self._name, SIGNING_KEY_TYPE, {DATA_KEY: pem(self._private)}
        )
        for facade in self._facades:
            wait_for(partial(self._known, facade.services.keys), "the key is known")

    def delete(self) -> None:
        self._cluster.admin.delete(f"{self._path}/{self._name}").raise_for_status()

    def edit(self) -> None:
        """Puts another key into the same Secret."""
        self._private = new_key()
        data = {DATA_KEY: base64.b64encode(pem(self._private).encode()).decode()}
        headers = {"Content-Type": "application/merge-patch+json"}
        self._cluster.admin.patch(
            f"{self._path}/{self._name}", json={"data": data}, headers=headers
        ).raise_for_status()

    def recreate(self) -> None:
        """Puts another key into another Secret of the same name."""
        self.delete()
        self._private = new_key()
        self.add()

    def _signs(self, keys: SigningKeys) -> bool:
        return keys.newest().kid == self._kid

    def _known(self, keys: SigningKeys) -> bool:
        return self._kid in {each["kid"] for each in keys.jwks()}

    def _gone(self, view: View) -> bool:
        return view.get(SIGNING_KEY, self._name) is None

    @property
    def _kid(self) -> str:
        return json_web_key(self._private.public_key())["kid"]


def new_key() -> rsa.RSAPrivateKey:
    return rsa.generate_private_key(public_exponent=65537, key_size=KEY_BITS)


def pem(key: rsa.RSAPrivateKey) -> str:
    return key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    ).decode()
