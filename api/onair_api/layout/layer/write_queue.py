"""Writes of layers: in the order of arrival, and no more of them than the API server keeps up with.

A layout is one resource, so a write costs what its size costs, tens of
milliseconds with hundreds of layers. Where a caller sends plain updates of the
same layers faster than that (a drag), those that wait together
become one write: each is applied and gets its response, and the version that is stored,
and its event, is the last one's. See decision 10.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace

from onair_api.auth.identity import Identity
from onair_api.errors import RpcError
from onair_api.layout.event_details_store import EventDetailsStore
from onair_api.layout.layer.batch import BatchRequest
from onair_api.layout.layer.record import batch_response, event_record, layers_of, result
from onair_api.layout.layer.tree import Update, applied
from onair_api.writes.request_note import RequestNote, new_nonce
from onair_api.writes.writer import Writer
from onair_crds.contract.layers import is_scene
from onair_crds.kube.store import Entry
from onair_crds.runtime.steps import done
from onair_crds.shapes import JsonObject

TREE = frozenset({"children", "parentId"})


@dataclass(eq=False)
class WaitingRequest:
    """One request, until it is written."""

    identity: Identity
    note: RequestNote
    request: BatchRequest
    alone: bool
    """It is one layer's own operation, not a batch."""
    response: asyncio.Future[JsonObject] = field(
        default_factory=lambda: asyncio.get_running_loop().create_future()
    )

    @property
    def has_details(self) -> bool:
        """Its event says more than the difference of two versions."""
        return not self.alone or bool(self.request.layers[0].animation)

    @property
    def subject(self) -> frozenset[str] | None:
        """The layers that it updates, if that is all it does; None if it animates, or changes the tree."""
        operations = [each.operation for each in self.request.layers]
        plain = all(isinstance(o, Update) and not TREE & o.values.keys() for o in operations)
        if not plain or any(each.animation for each in self.request.layers):
            return None
        return frozenset(o.id for o in operations)

    def is_superseded_by(self, later: WaitingRequest) -> bool:
        same_caller = (self.identity, self.note.session_id) == (later.identity, later.note.session_id)
        return same_caller and self.subject is not None and self.subject == later.subject


def next_group(waiting: list[WaitingRequest]) -> list[WaitingRequest]:
    """Takes the first request and those that it is written with. Order is kept where it could matter."""
    group = [waiting.pop(0)]
    subject = group[0].subject
    if subject is None:
        return group
    for each in list(waiting):
        if group[-1].is_superseded_by(each):
            waiting.remove(each)
            group.append(each)
        elif each.subject is None or each.subject & subject:
            break
    return group


class LayerWrites:
    """Writes layers: requests for one layout in their order, those that supersede each other at once."""

    def __init__(self, writer: Writer, details: EventDetailsStore | None) -> None:
        """
        Args:
            details: keeps what events say beyond the difference of two versions, if anything can.
        """
        self._writer = writer
        self._details = details
        self._waiting: dict[str, list[WaitingRequest]] = {}
        """By the layout's uid; one that is there, if empty, is being written."""
        self._tasks: set[asyncio.Task[None]] = set()

    def enqueue(self, layout: Entry, waiting: WaitingRequest) -> asyncio.Future[JsonObject]:
        """Applies a request in its turn; the future gets the batch response, or the record of the one layer.

        Raises, by the future:
            RpcError: it cannot be applied to the layout as it is; nothing of it is.
            ApiError: the API server refused it or did not respond.
        """
        queue = self._waiting.get(layout.uid)
        if queue is None:
            self._waiting[layout.uid] = [waiting]
            task = asyncio.create_task(self._drain(layout))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        else:
            queue.append(waiting)
        return waiting.response

    async def _drain(self, layout: Entry) -> None:
        queue = self._waiting[layout.uid]
        while queue:
            await self._write(layout, next_group(queue))
        del self._waiting[layout.uid]

    async def _write(self, layout: Entry, group: list[WaitingRequest]) -> None:
        """One write for all of a group; each gets its response."""
        last = group[-1]
        note = replace(last.note, nonce=new_nonce())
        nonce = str(note.nonce)
        responses: dict[WaitingRequest, JsonObject | RpcError] = {}

        async def change(entry: Entry) -> JsonObject:
            nonlocal note
            layers, scene = layers_of(entry), is_scene(entry.spec)
            for each in group:
                try:
                    operations = [r.operation for r in each.request.layers]
                    outcome = await done(applied(layers, operations, scene=scene))
                    responses[each] = (
                        result(layout.name, each.request.layers[0], outcome.results[0])
                        if each.alone
                        else await done(batch_response(layout.name, each.request, outcome.results))
                    )
                except RpcError as error:
                    responses[each] = error
                    continue
                layers = outcome.layers
            response = responses[last]
            kept = False
            if self._details and last.has_details:
                if isinstance(response, RpcError):
                    self._details.forget(nonce)
                else:
                    key = last.request.layers[0].key if last.alone else "batch"
                    record = await done(event_record(response))
                    kept = await self._details.keep(nonce, {key: record}, last.identity.service_id)
            note = replace(note, has_details=kept)
            return {**entry.spec, "layers": list(layers.values())}

        try:
            await self._writer.update(layout, change, lambda: note)
        except Exception as error:  # noqa: BLE001 - those who wait for the response handle it
            for each in group:
                _fail(each, error)
            return
        for each, response in responses.items():
            if isinstance(response, RpcError):
                _fail(each, response)
            elif not each.response.done():
                each.response.set_result(response)


def _fail(waiting: WaitingRequest, error: Exception) -> None:
    if not waiting.response.done():
        waiting.response.set_exception(error)
