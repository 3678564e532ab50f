"""Tells gateways from others, by the token that follows from the installation's secret."""

from __future__ import annotations

import base64
import binascii
import time

import structlog

from onair_api.cache.cluster import Cluster
from onair_crds.contract.ingest_gateway import (
    INGEST_SECRET,
    INGEST_SECRET_KEY,
    gateway_token,
    usable_secret,
)
from onair_crds.kube.apis import SECRETS
from onair_crds.kube.errors import ApiError
from onair_crds.runtime.bearer import shows_token

log = structlog.get_logger()

REREAD_S = 5.0
"""A token that is not the known one makes the Secret be read again: at most this often."""


class GatewayIdentity:
    def __init__(self, cluster: Cluster, namespace: str) -> None:
        self._cluster = cluster
        self._namespace = namespace
        self._token: str | None = None
        self._read_at_s: float | None = None

    async def shown_by(self, authorization: str) -> bool:
        """Whether an `Authorization` header is a gateway's."""
        if self._is_token(authorization):
            return True
        now_s = time.monotonic()
        if self._read_at_s is not None and now_s - self._read_at_s < REREAD_S:
            return False
        self._read_at_s = now_s
        await self._read()
        return self._is_token(authorization)

    def _is_token(self, authorization: str) -> bool:
        return self._token is not None and shows_token(authorization, self._token)

    async def _read(self) -> None:
        try:
            secret = await self._cluster.client.get(SECRETS, self._namespace, INGEST_SECRET)
            value = usable_secret(base64.b64decode((secret.get("data") or {})[INGEST_SECRET_KEY]))
        except ApiError as error:
            log.warning("ingest_secret.unreadable", secret=INGEST_SECRET, status=error.status)
        except (KeyError, TypeError, ValueError, binascii.Error):
            log.warning("ingest_secret.unusable", secret=INGEST_SECRET)
        else:
            self._token = gateway_token(value, "facade")
