"""Revoked tokens: redeemed direct tokens, those of deleted guest codes, and lineages that a call has ended.

Each is a Secret named by the hash of the token's id. Its creation is the
compare-and-swap that lets one refresh win; the watch brings it to the other replicas.
They stand in the show namespace: the facade may delete Secrets there and
nowhere near the signing keys. See docs/decisions/0011.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import time

import structlog

from onair_api.auth.expiry import expires_annotation
from onair_api.auth.identity import Identity, Origin
from onair_api.cache.cluster import Cluster
from onair_api.cache.watched_kinds import REVOKED_TOKEN
from onair_api.settings import MAX_TOKEN_DURATION_MS
from onair_api.writes.quota_enforcement import Quotas
from onair_crds.contract.labels import MADE_BY_FACADE, REVOKED_TOKEN_TYPE, SERVICE_ANNOTATION
from onair_crds.kube.errors import ApiError
from onair_crds.shapes import Document

log = structlog.get_logger()


def secret_name(token_id: str) -> str:
    """The name of the Secret that marks a token as revoked."""
    return f"revoked-token-{hashlib.sha256(token_id.encode()).hexdigest()[:40]}"


def _lineage(id_: str) -> str:
    """Ids of lineages may be those of tokens, whose redemption ends no successor."""
    return f"lineage:{id_}"


class RevokedTokens:
    def __init__(self, cluster: Cluster, quotas: Quotas) -> None:
        self._cluster = cluster
        self._quotas = quotas

    def known(self, token_id: str) -> bool:
        """Whether this replica knows it as revoked: at most one watch delay after it was written."""
        return self._cluster.view.get(REVOKED_TOKEN, secret_name(token_id)) is not None

    def ended(self, origin: Origin) -> bool:
        """Whether this replica knows that a token, or one that it goes back to, was ended."""
        return any(self.known(_lineage(each)) for each in origin.lineage)

    async def end(self, identity: Identity, *, by_backend: bool = False) -> None:
        """Ends a token with its successors and predecessors, and all that goes back to them.

        The record is kept for as long as any of them could last: nothing new comes of them.

        Args:
            by_backend: with the API key of its service.

        Raises:
            QuotaExceeded: too many of its service are revoked.
            ApiError: the API server did not respond.
        """
        id_, expires = _lineage(identity.lineage[-1]), time.time() + MAX_TOKEN_DURATION_MS / 1000
        if not self.known(id_):
            with self._quotas.revoking(identity.service_id, by_backend=by_backend):
                await self.revoke(id_, expires, identity.service_id)

    async def redeem(self, token_id: str, expires: float, service_id: str) -> bool:
        """Revokes a token that was used; False if it was revoked before.

        Raises:
            QuotaExceeded: too many of its service are revoked.
            ApiError: the API server did not respond.
        """
        if self.known(token_id):
            return False
        with self._quotas.revoking(service_id):
            return await self.revoke(token_id, expires, service_id)

    async def check(self, token_id: str) -> bool:
        """Whether it is revoked now, as the API server knows.

        Raises:
            ApiError: the API server did not respond.
        """
        return await self._cluster.get(REVOKED_TOKEN, secret_name(token_id)) is not None

    async def revoke(self, token_id: str, expires: float, service_id: str) -> bool:
        """Revokes a token, however many are; False if it was revoked before.

        Args:
            expires: Unix seconds of the token's own expiry, after which the record is not needed any more.

        Raises:
            ApiError: the API server did not respond.
        """
        cluster = self._cluster
        name = secret_name(token_id)
        document: Document = {
            "apiVersion": "v1",
            "kind": "Secret",
            "type": REVOKED_TOKEN_TYPE,
            "immutable": True,
            "metadata": {
                "name": name,
                "labels": {**MADE_BY_FACADE},
                "annotations": {
                    **expires_annotation(dt.datetime.fromtimestamp(expires, dt.UTC)),
                    SERVICE_ANNOTATION: service_id,
                },
            },
        }
        try:
            created = await cluster.client.create(
                cluster.api(REVOKED_TOKEN), cluster.namespace(REVOKED_TOKEN), document
            )
        except ApiError as error:
            if not error.already_exists:
                raise
            await cluster.get(REVOKED_TOKEN, name)
            return False
        cluster.view.put(REVOKED_TOKEN, created)
        log.info("token.revoked", secret=name)
        return True
