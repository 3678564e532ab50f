"""The secret that tokens of ingest gateways are made with: in a Secret of the operator's own."""

from __future__ import annotations

import asyncio
import base64
import secrets
from collections.abc import Callable

import structlog

from onair_crds.contract.ingest_gateway import (
    INGEST_SECRET,
    INGEST_SECRET_KEY,
    SECRET_SETTLE_S,
    usable_secret,
)
from onair_crds.kube.client import KubeClient
from onair_crds.kube.errors import ApiError
from onair_operator.cluster.own_secret import own_secret

log = structlog.get_logger()

SECRET_BYTES = 32
INTERVAL_S = 10.0


async def ingest_secret(client: KubeClient, namespace: str) -> bytes | None:
    """The secret that is there, or a new one; None, which is logged, if the one that is there is unusable.

    Raises:
        ApiError: the API server did not respond, or refuses.
    """
    secret = await own_secret(client, namespace, INGEST_SECRET, _new)
    try:
        return usable_secret(base64.b64decode(secret["data"][INGEST_SECRET_KEY]))
    except (KeyError, TypeError, ValueError) as error:
        log.warning("ingest_secret.unusable", secret=INGEST_SECRET, error=type(error).__name__)
        return None


def _new() -> dict[str, str]:
    return {INGEST_SECRET_KEY: secrets.token_hex(SECRET_BYTES)}


async def follow_ingest_secret(
    client: KubeClient, namespace: str, known: bytes | None, replaced: Callable[[bytes], None]
) -> None:
    """Looks at the secret until cancelled, and makes a new one where it was deleted.

    Args:
        replaced: hears another one, once every gateway has it.
    """
    while True:
        await asyncio.sleep(INTERVAL_S)
        try:
            value = await ingest_secret(client, namespace)
        except ApiError as error:
            log.warning("ingest_secret.unknown", secret=INGEST_SECRET, error=error.message)
            continue
        if value is not None and value != known:
            log.info("ingest_secret.replaced", secret=INGEST_SECRET, used_in_s=SECRET_SETTLE_S)
            await asyncio.sleep(SECRET_SETTLE_S)
            known = value
            replaced(value)
