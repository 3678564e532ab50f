"""Tells gateways from others, by the token that follows from the installation's secret."""

from __future__ import annotations

import time

from onair_api.auth.ingest_secret import read_ingest_secret
from onair_api.cache.cluster import Cluster
from onair_crds.contract.ingest_gateway import gateway_token
from onair_crds.runtime.bearer import shows_token

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
        if value := await read_ingest_secret(self._cluster, self._namespace):
            self._token = gateway_token(value, "facade")
