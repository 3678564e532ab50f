"""The installation's secret of ingest, made by the operator: gateways and players are known by it."""

from __future__ import annotations

import asyncio
import base64
import binascii
import time

import structlog

from onair_api.cache.cluster import Cluster
from onair_crds.contract.ingest_gateway import (
    INGEST_SECRET,
    INGEST_SECRET_KEY,
    SECRET_SETTLE_S,
    usable_secret,
)
from onair_crds.kube.apis import SECRETS
from onair_crds.kube.errors import ApiError

log = structlog.get_logger()

KEPT_S = 60.0
"""After this time it is read again: it may have been replaced."""
RETRY_S = 1.0


class IngestSecret:
    def __init__(self, cluster: Cluster, namespace: str) -> None:
        self._cluster = cluster
        self._namespace = namespace
        self._known: bytes | None = None
        self._next_s = 0.0
        self._reading = asyncio.Lock()
        self._settled_at_s: float | None = None
        """When every gateway has the one that has replaced it; None if none has."""

    async def get(self) -> bytes | None:
        """The secret that gateways know; None while it cannot be read and never could."""
        if self._known is None or time.monotonic() >= self._next_s:
            async with self._reading:
                await self._read_if_due()
        return self._known

    async def _read_if_due(self) -> None:
        if time.monotonic() < self._next_s:
            return
        self._next_s = time.monotonic() + RETRY_S
        if value := await read_ingest_secret(self._cluster, self._namespace):
            self._next_s = time.monotonic() + KEPT_S
            self._take(value)

    def _take(self, value: bytes) -> None:
        now_s = time.monotonic()
        if self._known is None or value == self._known:
            self._known, self._settled_at_s = value, None
        elif self._settled_at_s is None:
            self._settled_at_s = now_s + SECRET_SETTLE_S
        elif now_s >= self._settled_at_s:
            self._known, self._settled_at_s = value, None


async def read_ingest_secret(cluster: Cluster, namespace: str) -> bytes | None:
    """Reads the secret from the API server; None if it cannot be read, or could be guessed."""
    try:
        secret = await cluster.client.get(SECRETS, namespace, INGEST_SECRET)
        return usable_secret(base64.b64decode((secret.get("data") or {})[INGEST_SECRET_KEY]))
    except ApiError as error:
        log.warning("ingest_secret.unreadable", secret=INGEST_SECRET, status=error.status)
    except (KeyError, TypeError, ValueError, binascii.Error):
        log.warning("ingest_secret.unusable", secret=INGEST_SECRET)
    return None
