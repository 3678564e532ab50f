"""The secret that tokens of ingest gateways are made with: one Secret, of whichever operator comes first."""

from __future__ import annotations

import asyncio
import base64
import binascii
import secrets
from collections.abc import Callable

import structlog

from onair_crds.contract.ingest_gateway import (
    INGEST_SECRET,
    INGEST_SECRET_KEY,
    SECRET_SETTLE_S,
    usable_secret,
)
from onair_crds.contract.labels import PART_OF_LABEL, PRODUCT
from onair_crds.kube.apis import SECRETS
from onair_crds.kube.client import KubeClient
from onair_crds.kube.errors import ApiError
from onair_crds.shapes import Document

log = structlog.get_logger()

SECRET_BYTES = 32
INTERVAL_S = 10.0


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


async def follow_ingest_secret(
    client: KubeClient, namespace: str, known: bytes, replaced: Callable[[bytes], None]
) -> None:
    """Looks at the secret until cancelled, and makes a new one where it was deleted.

    Args:
        replaced: hears another one, once every gateway has it.
    """
    while True:
        await asyncio.sleep(INTERVAL_S)
        try:
            value = usable_secret(await ingest_secret(client, namespace))
        except (ApiError, KeyError, TypeError, ValueError, binascii.Error) as error:
            log.warning("ingest_secret.unusable", secret=INGEST_SECRET, error=type(error).__name__)
            continue
        if value != known:
            log.info("ingest_secret.replaced", secret=INGEST_SECRET, used_in_s=SECRET_SETTLE_S)
            await asyncio.sleep(SECRET_SETTLE_S)
            known = value
            replaced(value)


def _of(secret: Document) -> bytes:
    return base64.b64decode(secret["data"][INGEST_SECRET_KEY])
