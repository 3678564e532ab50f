"""The credentials of the built-in room server, in a Secret of the operator's own."""

from __future__ import annotations

import secrets

from onair_crds.contract.rooms import API_KEY, API_SECRET, ROOM_KEY_NAME, SECRET_NAME, SERVER_KEYS
from onair_crds.kube.client import KubeClient
from onair_operator.cluster.own_secret import own_secret


async def ensure_room_secret(client: KubeClient, namespace: str) -> None:
    """Makes the Secret, unless it is there.

    Raises:
        ApiError: the API server did not respond, or refuses.
    """
    await own_secret(client, namespace, SECRET_NAME, _credentials)


def _credentials() -> dict[str, str]:
    secret = secrets.token_hex(32)
    return {API_KEY: ROOM_KEY_NAME, API_SECRET: secret, SERVER_KEYS: f"{ROOM_KEY_NAME}: {secret}"}
