"""Layers: list, create, read, update, delete, and many of these at once. Each is one write of the layout."""

from __future__ import annotations

import asyncio

from onair_api.access.visible_layouts import owned_layout
from onair_api.auth.callers import Caller
from onair_api.cache.cluster import Cluster
from onair_api.errors import NotFound
from onair_api.layout.event_details_store import EventDetailsStore
from onair_api.layout.layer.batch import BatchRequest, batch_request
from onair_api.layout.layer.record import layer_fields, layers_of
from onair_api.layout.layer.request import LayerRequest, create_request, delete_request, update_request
from onair_api.layout.layer.write_queue import LayerWrites, WaitingRequest
from onair_api.operation import Ids
from onair_api.settings import LimitSettings
from onair_api.wire.list_page import page_of
from onair_api.writes.identifiers import new_id
from onair_api.writes.request_note import RequestNote
from onair_api.writes.writer import Writer
from onair_crds.kube.store import Entry
from onair_crds.runtime.keyed_locks import KeyedLocks
from onair_crds.runtime.steps import done
from onair_crds.shapes import JsonObject


class Layers:
    def __init__(
        self,
        cluster: Cluster,
        writer: Writer,
        limits: LimitSettings,
        details: EventDetailsStore | None = None,
    ) -> None:
        self._cluster = cluster
        self._limits = limits
        self._writes = LayerWrites(writer, details)
        self._reading: KeyedLocks[str] = KeyedLocks()
        """By the layout's uid: others have their turns while a batch is decoded, which nothing overtakes."""

    async def list_layers(self, caller: Caller, ids: Ids, message: JsonObject) -> JsonObject:
        """The layers, attached or not, oldest first."""
        layout, _ = await owned_layout(self._cluster, caller.identity, ids["layoutId"])
        records: list[JsonObject] | None = layout.records.get("wire")
        if records is None:
            records = [layer_fields(layout.name, layer) for layer in layers_of(layout).values()]
            layout.records["wire"] = records
        page = page_of(records, message, lambda record: (record["id"],), by_key=False)
        return {"items": page.items, **page.field}

    async def get(self, caller: Caller, ids: Ids, message: JsonObject) -> JsonObject:
        layout, _ = await owned_layout(self._cluster, caller.identity, ids["layoutId"])
        layer = layers_of(layout).get(ids["layerId"])
        if layer is None:
            raise NotFound("the layer does not exist")
        return layer_fields(layout.name, layer)

    async def create(self, caller: Caller, ids: Ids, message: JsonObject) -> JsonObject:
        layout, _ = await owned_layout(self._cluster, caller.identity, ids["layoutId"])
        return await self._one(caller, layout, create_request(message, new_id, self._limits))

    async def update(self, caller: Caller, ids: Ids, message: JsonObject) -> JsonObject:
        """Changes the fields that were sent."""
        layout, _ = await owned_layout(self._cluster, caller.identity, ids["layoutId"])
        return await self._one(caller, layout, update_request(ids["layerId"], message, self._limits))

    async def delete(self, caller: Caller, ids: Ids, message: JsonObject) -> JsonObject:
        """Takes the layer's descendants too."""
        layout, _ = await owned_layout(self._cluster, caller.identity, ids["layoutId"])
        return await self._one(caller, layout, delete_request(ids["layerId"], message, self._limits))

    async def batch(self, caller: Caller, ids: Ids, message: JsonObject) -> JsonObject:
        """All operations in one write, or none."""
        layout, _ = await owned_layout(self._cluster, caller.identity, ids["layoutId"])
        async with self._reading.of(layout.uid):
            request = await done(batch_request(message, new_id, self._limits))
            response = self._enqueue(caller, layout, request, alone=False)
        return await response

    async def _one(self, caller: Caller, layout: Entry, request: LayerRequest) -> JsonObject:
        async with self._reading.of(layout.uid):
            response = self._enqueue(caller, layout, BatchRequest([request], request.metadata), alone=True)
        return await response

    def _enqueue(
        self, caller: Caller, layout: Entry, request: BatchRequest, *, alone: bool
    ) -> asyncio.Future[JsonObject]:
        note = RequestNote(caller.session_id, request.metadata)
        return self._writes.enqueue(layout, WaitingRequest(caller.identity, note, request, alone))
