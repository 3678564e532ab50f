"""The credentials of the built-in room server: one Secret, of whichever operator comes first."""

from __future__ import annotations

import secrets

from onair_crds.contract.labels import PART_OF_LABEL, PRODUCT
from onair_crds.contract.rooms import API_KEY, API_SECRET, ROOM_KEY_NAME, SECRET_NAME, SERVER_KEYS
from onair_crds.kube.apis import SECRETS
from onair_crds.kube.client import KubeClient
from onair_crds.kube.errors import ApiError
from onair_crds.shapes import Document


async def ensure_room_secret(client: KubeClient, namespace: str) -> None:
    """Leaves the Secret that is there; creation decides between operators that start together.

    Raises:
        ApiError: the API server did not respond, or refuses.
    """
    try:
        await client.get(SECRETS, namespace, SECRET_NAME)
    except ApiError as error:
        if not error.not_found:
            raise
    else:
        return
    key, secret = ROOM_KEY_NAME, secrets.token_hex(32)
    document: Document = {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": SECRET_NAME, "labels": {PART_OF_LABEL: PRODUCT}},
        "stringData": {API_KEY: key, API_SECRET: secret, SERVER_KEYS: f"{key}: {secret}"},
    }
    try:
        await client.create(SECRETS, namespace, document)
    except ApiError as error:
        if not error.already_exists:
            raise
