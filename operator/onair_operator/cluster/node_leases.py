"""The Leases of nodes, fetched while a node is suspect, and the nodes that were found dead."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping

import structlog

from onair_crds.contract.times import parse_time
from onair_crds.kube.apis import LEASES
from onair_crds.kube.client import KubeClient
from onair_crds.kube.errors import ApiError

log = structlog.get_logger()

LEASE_NAMESPACE = "kube-node-lease"


class NodeLeases:
    def __init__(self, client: KubeClient) -> None:
        self._client = client
        self.renewals: Mapping[str, dt.datetime] = {}
        """When each node last renewed its Lease; empty where the API server does not say."""
        self.dead: frozenset[str] = frozenset()

    async def refresh(self) -> None:
        """Fetches all Leases."""
        try:
            leases = await self._client.list(LEASES, LEASE_NAMESPACE)
        except ApiError:
            self.renewals = {}
            return
        self.renewals = {
            lease["metadata"]["name"]: parse_time(lease["spec"]["renewTime"])
            for lease in leases["items"]
            if lease["spec"].get("renewTime")
        }

    def mark(self, node: str, *, dead: bool) -> None:
        """Notes that a node is dead, or alive again."""
        self.dead = self.dead | {node} if dead else self.dead - {node}
        log.warning("node.dead" if dead else "node.alive", node=node)
