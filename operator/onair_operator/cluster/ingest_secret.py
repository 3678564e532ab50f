"""The secret that tokens of ingest gateways are made with: one Secret, of whichever operator comes first."""

from __future__ import annotations

import base64
import secrets

from onair_crds.contract.ingest_gateway import INGEST_SECRET, INGEST_SECRET_KEY
from onair_crds.contract.labels import PART_OF_LABEL, PRODUCT
from onair_crds.kube.apis import SECRETS
from onair_crds.kube.client import KubeClient
from onair_crds.kube.errors import ApiError
from onair_crds.shapes import Document

SECRET_BYTES = 32


async def ingest_secret(client: KubeClient, namespace: str) -> bytes:
    """The secret that is there, or a new one; creation decides between operators that start together.

    Raises:
        ApiError: the API server did not respond, or refuses.
    """
    try:
        return _of(await client.get(SECRETS, namespace, INGEST_SECRET))
    except ApiError as error:
        if not error.not_found:
            raise
    document: Document = {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": INGEST_SECRET, "labels": {PART_OF_LABEL: PRODUCT}},
        "stringData": {INGEST_SECRET_KEY: secrets.token_hex(SECRET_BYTES)},
    }
    try:
        return _of(await client.create(SECRETS, namespace, document))
    except ApiError as error:
        if not error.already_exists:
            raise
    return _of(await client.get(SECRETS, namespace, INGEST_SECRET))


def _of(secret: Document) -> bytes:
    return base64.b64decode(secret["data"][INGEST_SECRET_KEY])
