"""Finds ingest pods that are to be deleted, and are not while their node does not respond.

A StatefulSet makes no pod as long as the API server has the former one of its name. Only the leader
looks, and only at pods whose gateway it cannot reach.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

import structlog

from onair_crds.kube.apis import PODS
from onair_crds.kube.client import KubeClient
from onair_crds.kube.errors import ApiError
from onair_crds.shapes import Document
from onair_operator.ingest.gateway_streams import GatewayStreams
from onair_operator.ingest.observed import GatewayContact

log = structlog.get_logger()

INTERVAL_S = 2.0


@dataclass(frozen=True)
class LeavingPod:
    """A pod that Kubernetes has marked for deletion, and the node that is to end it."""

    name: str
    uid: str
    node: str


class IngestPods:
    """Looks for pods that leave; without a client, none is found."""

    def __init__(
        self,
        client: KubeClient | None = None,
        namespace: str = "",
        leads: Callable[[], bool] = lambda: True,
    ) -> None:
        """
        Args:
            leads: whether this process may act at the moment.
        """
        self.lost: frozenset[str] = frozenset()
        """Gateways that could not be reached at the last look; none while this process does not lead."""
        self.leaving: tuple[LeavingPod, ...] = ()
        """Their pods, where these are marked for deletion."""
        self._client = client
        self._namespace = namespace
        self._leads = leads
        self._told = False
        """Of a missing right."""

    async def run(self, streams: GatewayStreams) -> None:
        """Looks until cancelled."""
        if self._client is None:
            return
        try:
            while True:
                if self._leads():
                    await self._look(self._client, streams)
                await asyncio.sleep(INTERVAL_S)
        finally:
            self.lost, self.leaving = frozenset(), ()

    def deleted(self, uid: str) -> None:
        """Notes that a pod is gone, before the next look finds it."""
        self.leaving = tuple(each for each in self.leaving if each.uid != uid)

    async def _look(self, client: KubeClient, streams: GatewayStreams) -> None:
        """Where the API server does not say how it is with a pod, that is not taken to leave."""
        gateways = streams.gateways
        self.lost = frozenset(g.name for g in gateways if g.contact is GatewayContact.UNREACHABLE)
        found = []
        for name in sorted(self.lost):
            try:
                found.append(_leaving(await client.get(PODS, self._namespace, name)))
            except ApiError as error:
                if not error.not_found:
                    self._note(error)
        self.leaving = tuple(each for each in found if each)

    def _note(self, error: ApiError) -> None:
        """Logs why nothing is known: once as a warning where an administrator has to grant a right."""
        if error.lacks_right and not self._told:
            self._told = True
            log.warning("ingest-pods.forbidden", error=error.message)
        else:
            log.debug("ingest-pods.unknown", error=error.message)


def _leaving(pod: Document) -> LeavingPod | None:
    metadata, node = pod["metadata"], (pod.get("spec") or {}).get("nodeName")
    if not node or "deletionTimestamp" not in metadata:
        return None
    return LeavingPod(metadata["name"], metadata["uid"], node)
