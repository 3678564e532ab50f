"""Layers: list, create, read, update, delete, and many of these at once. Each is one write of the layout."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from onair_api.auth.caller import Caller
from onair_api.cache.cluster import Cluster
from onair_api.cache.kinds import LAYOUT
from onair_api.cache.view import Entry
from onair_api.errors import NotFound
from onair_api.layout.access import owned_layout
from onair_api.layout.notes import BatchNotes
from onair_api.layout.record import (
    batch_answer,
    deletion,
    layer_fields,
    layers_of,
    noted,
    result,
)
from onair_api.layout.request import (
    BatchRequest,
    LayerRequest,
    batch_request,
    create_request,
    delete_request,
    update_request,
)
from onair_api.layout.stored import is_scene
from onair_api.layout.tree import Layer, applied
from onair_api.settings import LimitSettings
from onair_api.writes.identifiers import new_id
from onair_api.writes.request_note import RequestNote, new_nonce
from onair_api.writes.writer import Writer

Record = dict[str, Any]


class Layers:
    def __init__(
        self, cluster: Cluster, writer: Writer, limits: LimitSettings, notes: BatchNotes | None = None
    ) -> None:
        """
        Args:
            notes: keeps what events are to say beyond the diff; without it they say what the diff says.
        """
        self._cluster = cluster
        self._writer = writer
        self._limits = limits
        self._notes = notes

    async def list(self, caller: Caller, layout_id: str) -> list[Record]:
        """All layers, attached or not, oldest first."""
        layout, _ = await owned_layout(self._cluster, caller.identity, layout_id)
        records: list[Record] | None = layout.records.get("wire")
        if records is None:
            records = [layer_fields(layout.name, layer) for layer in layers_of(layout).values()]
            layout.records["wire"] = records
        return records

    async def get(self, caller: Caller, layout_id: str, layer_id: str) -> Record:
        layout, _ = await owned_layout(self._cluster, caller.identity, layout_id)
        layer = layers_of(layout).get(layer_id)
        if layer is None:
            raise NotFound("the layer does not exist")
        return layer_fields(layout.name, layer)

    async def create(self, caller: Caller, layout_id: str, body: Record) -> Record:
        layout, _ = await owned_layout(self._cluster, caller.identity, layout_id)
        return await self._one(caller, layout, create_request(body, new_id, self._limits))

    async def update(self, caller: Caller, layout_id: str, layer_id: str, body: Record) -> Record:
        """Changes the fields that were sent."""
        layout, _ = await owned_layout(self._cluster, caller.identity, layout_id)
        return await self._one(caller, layout, update_request(layer_id, body, self._limits))

    async def delete(self, caller: Caller, layout_id: str, layer_id: str, body: Record) -> Record:
        """Takes the layer's descendants too."""
        layout, _ = await owned_layout(self._cluster, caller.identity, layout_id)
        request = delete_request(layer_id, body, self._limits)
        await self._one(caller, layout, request)
        return deletion(layout.name, request)

    async def batch(self, caller: Caller, layout_id: str, body: Record) -> Record:
        """All operations in one write, or none."""
        layout, _ = await owned_layout(self._cluster, caller.identity, layout_id)
        request = batch_request(body, new_id, self._limits)
        return await self._write(layout, request, _note(caller, request.metadata), alone=False)

    async def _one(self, caller: Caller, layout: Entry, request: LayerRequest) -> Record:
        alone = BatchRequest([request], None)
        return await self._write(layout, alone, _note(caller, request.metadata), alone=True)

    async def _write(self, layout: Entry, request: BatchRequest, note: RequestNote, *, alone: bool) -> Record:
        """Applies a request; gives the batch response, or the record of the one layer."""
        operations = [each.operation for each in request.layers]
        note = replace(note, nonce=new_nonce())
        answer: Record = {}

        async def change(entry: Entry) -> Record:
            nonlocal answer
            outcome = applied(layers_of(entry), operations, scene=is_scene(entry.spec))
            answer = _answer(layout.name, request, outcome.results, alone=alone)
            if self._notes and (not alone or request.layers[0].animation):
                key = request.layers[0].key if alone else "batch"
                await self._notes.keep(str(note.nonce), {key: noted(answer)})
            return {**entry.spec, "layers": list(outcome.layers.values())}

        await self._writer.update(LAYOUT, layout.name, change, note)
        return answer


def _answer(layout_id: str, request: BatchRequest, results: list[Layer], *, alone: bool) -> Record:
    if alone:
        return result(layout_id, request.layers[0], results[0])
    return batch_answer(layout_id, request, results)


def _note(caller: Caller, metadata: Record | None) -> RequestNote:
    return RequestNote(caller.session_id, metadata)
