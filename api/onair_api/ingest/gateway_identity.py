"""Tells gateways from others, by the token that follows from the installation's secret."""

from __future__ import annotations

import asyncio
import time

import structlog

from onair_api.auth.ingest_secret import read_ingest_secret
from onair_api.cache.cluster import Cluster
from onair_crds.contract.ingest_gateway import INGEST_SECRET, gateway_token
from onair_crds.runtime.rotated_secret import RotatedSecret

log = structlog.get_logger()

REREAD_S = 5.0
"""A token that is not the known one makes the Secret be read again: at most this often."""


class GatewayIdentity:
    def __init__(self, cluster: Cluster, namespace: str) -> None:
        self._cluster = cluster
        self._namespace = namespace
        self._secret: RotatedSecret | None = None
        self._read_at_s: float | None = None
        self._reading = asyncio.Lock()

    async def shown_by(self, authorization: str) -> bool:
        """Whether an `Authorization` header is a gateway's."""
        if self._is_token(authorization):
            return True
        async with self._reading:  # who comes meanwhile takes what is found
            now_s = time.monotonic()
            if self._read_at_s is None or now_s - self._read_at_s >= REREAD_S:
                self._read_at_s = now_s
                await self._read()
        return self._is_token(authorization)

    def _is_token(self, authorization: str) -> bool:
        secret = self._secret
        return secret is not None and secret.shown_by(authorization, _token)

    async def _read(self) -> None:
        value = await read_ingest_secret(self._cluster, self._namespace)
        if value and self._secret is None:
            self._secret = RotatedSecret(value)
        elif value and self._secret and self._secret.replace(value):
            log.info("ingest_secret.replaced", secret=INGEST_SECRET)


def _token(secret: bytes) -> str:
    return gateway_token(secret, "facade")
