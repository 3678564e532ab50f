"""The room server's API key and secret, read from their Secret and kept for a while."""

from __future__ import annotations

import base64
import binascii
import time
from dataclasses import dataclass, field

from onair_crds.contract.rooms import API_KEY, API_SECRET, SECRET_NAME
from onair_crds.kube.apis import SECRETS
from onair_crds.kube.client import KubeClient
from onair_crds.kube.errors import ApiError
from onair_crds.room_server.errors import RoomServerError

KEPT_S = 60.0
"""After this time the Secret is read again: it may have been rotated."""


@dataclass(frozen=True)
class RoomServerCredentials:
    """The room server's API key and secret; the secret is never printed."""

    api_key: str
    api_secret: str = field(repr=False)


@dataclass(frozen=True)
class SecretKeys:
    """Which Secret of the release's namespace it is, and under which keys it holds them."""

    name: str = SECRET_NAME
    api_key: str = API_KEY
    api_secret: str = API_SECRET


class CredentialsReader:
    """Reads the credentials from their Secret, and again after a while."""

    def __init__(self, client: KubeClient, namespace: str, keys: SecretKeys) -> None:
        self._client = client
        self._namespace = namespace
        self._keys = keys
        self._read: tuple[float, RoomServerCredentials] | None = None

    @property
    def known(self) -> RoomServerCredentials | None:
        """Those that were read last; None before that."""
        return self._read[1] if self._read else None

    async def get(self) -> RoomServerCredentials:
        """Returns the credentials, which are read again after a while.

        Raises:
            RoomServerError: they were never there, and are not there now.
        """
        if self._read and time.monotonic() - self._read[0] < KEPT_S:
            return self._read[1]
        try:
            secret = await self._client.get(SECRETS, self._namespace, self._keys.name)
            data = secret.get("data") or {}
            key, value = (
                base64.b64decode(data[name]).decode().strip()
                for name in (self._keys.api_key, self._keys.api_secret)
            )
        except (ApiError, KeyError, ValueError, binascii.Error) as error:
            if self._read:
                return self._read[1]
            text = f"the Secret {self._keys.name} with the room server's credentials cannot be read"
            raise RoomServerError(text) from error
        self._read = time.monotonic(), RoomServerCredentials(key, value)
        return self._read[1]

    def forget(self) -> None:
        """The next look reads the Secret: the room server refused what is known."""
        if self._read:
            self._read = float("-inf"), self._read[1]
