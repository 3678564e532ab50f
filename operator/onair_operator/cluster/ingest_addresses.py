"""Finds where publishers reach ingest, where no value says so, and keeps it in a ConfigMap for facades.

The Services are looked at again and again, so an address that changes needs nobody. Only the leader looks.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from urllib.parse import urlsplit

import structlog

from onair_crds.contract.ingest import ADDRESSES_CONFIG_MAP, ADDRESSES_KEY, FoundAddresses, addresses_in
from onair_crds.contract.labels import PART_OF_LABEL, PRODUCT
from onair_crds.kube.apis import CONFIG_MAPS, NODES, SERVICES, Api
from onair_crds.kube.client import KubeClient
from onair_crds.kube.errors import ApiError
from onair_crds.resources.base import MAX_TEXT
from onair_crds.shapes import Document
from onair_operator.ingest.service_addresses import (
    NODE_PORT,
    address_of_node,
    best_node,
    endpoints_of,
    missing_of,
)
from onair_operator.settings import IngestServiceSettings

log = structlog.get_logger()

INTERVAL_S = 2.0


class IngestAddresses:
    """Looks for the addresses of Services; without any, nothing is found."""

    def __init__(
        self,
        client: KubeClient | None = None,
        namespace: str = "",
        services: Sequence[IngestServiceSettings] = (),
        changed: Callable[[], None] = lambda: None,
        leads: Callable[[], bool] = lambda: True,
    ) -> None:
        """
        Args:
            changed: called when something else was found.
            leads: whether this process may act at the moment.
        """
        self.found: FoundAddresses | None = None
        """None while this process has not looked yet."""
        self._client = client
        self._namespace = namespace
        self._services = services
        self._changed = changed
        self._leads = leads
        self._nodes: dict[str, str] = {}
        """By region: the node that publishers by NodePort are sent to."""
        self._failing = False

    async def run(self) -> None:
        """Looks until cancelled."""
        if self._client is None or not self._services:
            return
        while True:
            if self._leads():
                await self._pass(self._client)
            await asyncio.sleep(INTERVAL_S)

    async def _pass(self, client: KubeClient) -> None:
        try:
            kept = await self._get(client, CONFIG_MAPS, self._namespace, ADDRESSES_CONFIG_MAP)
            known = addresses_in(kept) if kept else None
            found = await self._look(client, known or FoundAddresses())
            if found != known:
                await self._keep(client, found, is_there=kept is not None)
        except ApiError as error:
            if not self._failing:
                log.warning("ingest.addresses-unknown", error=error.message)
            self._failing = True
            return
        self._failing = False
        if found != self.found:
            self.found = found
            log.info("ingest.addresses", found=[e.base_url for e in found.endpoints], missing=found.missing)
            self._changed()

    async def _look(self, client: KubeClient, known: FoundAddresses) -> FoundAddresses:
        endpoints, missing = [], []
        for wanted in self._services:
            service = await self._get(client, SERVICES, self._namespace, wanted.name)
            if service is None:
                missing.append(f"there is no Service {wanted.name}")
                continue
            node = None
            if service["spec"].get("type") == NODE_PORT:
                node = await self._node_address(client, wanted.region, known)
            of_it = endpoints_of(service, wanted.region, node)
            endpoints += of_it
            if not of_it:
                missing.append(missing_of(service))
        return FoundAddresses(endpoints=endpoints, missing="; ".join(missing)[:MAX_TEXT])

    async def _node_address(self, client: KubeClient, region: str, known: FoundAddresses) -> str | None:
        """Of the node that publishers were sent to before, as long as it is ready: nodes are many."""
        if name := self._nodes.get(region):
            node = await self._get(client, NODES, None, name)
            if node and (address := address_of_node(node)):
                return address
        former = {urlsplit(each.base_url).hostname or "" for each in known.endpoints if each.region == region}
        best = best_node((await client.list(NODES, None))["items"], region, former)
        if best is None:
            return None
        self._nodes[region] = best["metadata"]["name"]
        return address_of_node(best)

    async def _keep(self, client: KubeClient, found: FoundAddresses, *, is_there: bool) -> None:
        data = {"data": {ADDRESSES_KEY: found.wire()}}
        if is_there:
            await client.merge_patch(CONFIG_MAPS, self._namespace, ADDRESSES_CONFIG_MAP, data)
            return
        metadata = {"name": ADDRESSES_CONFIG_MAP, "labels": {PART_OF_LABEL: PRODUCT}}
        document = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, **data}
        await client.create(CONFIG_MAPS, self._namespace, document)

    async def _get(self, client: KubeClient, api: Api, namespace: str | None, name: str) -> Document | None:
        try:
            return await client.get(api, namespace, name)
        except ApiError as error:
            if not error.not_found:
                raise
            return None
