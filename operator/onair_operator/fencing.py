"""Which nodes are dead: their Lease is old while most others' are fresh."""

from __future__ import annotations

import datetime as dt

from onair_crds.contract.times import parse_time
from onair_crds.kube.apis import LEASES
from onair_crds.kube.client import KubeClient
from onair_crds.kube.errors import ApiError

STALE_AFTER = dt.timedelta(seconds=12.5)
"""The kubelet renews its Lease every 10 s."""
LEASE_NAMESPACE = "kube-node-lease"


def dead_nodes(renewals: dict[str, dt.datetime], now: dt.datetime) -> frozenset[str]:
    """Nodes whose Lease is stale, unless half of all are: then the API server was away, not the nodes."""
    stale = {node for node, renewed in renewals.items() if now - renewed > STALE_AFTER}
    return frozenset(stale) if 2 * len(stale) < len(renewals) else frozenset()


async def node_renewals(client: KubeClient) -> dict[str, dt.datetime]:
    """When each node last renewed its Lease; empty where the API server does not say."""
    try:
        leases = await client.list(LEASES, LEASE_NAMESPACE)
    except ApiError:
        return {}
    return {
        lease["metadata"]["name"]: parse_time(lease["spec"]["renewTime"])
        for lease in leases["items"]
        if lease["spec"].get("renewTime")
    }
