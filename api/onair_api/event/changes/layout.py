"""What the change of a layout tells of it and of its layers."""

from __future__ import annotations

from typing import Any

from onair_api.access.target import Target
from onair_api.cache.kinds import PROJECT
from onair_api.cache.view import Entry, View
from onair_api.event.changes.announcement import BATCH, CREATE, DELETE, UPDATE, Told
from onair_api.layout.record import layer_record, layers_of, layout_record

Record = dict[str, Any]


def layout_changes(
    before: Entry | None,
    after: Entry | None,
    target: Target,
    view: View,
    metadata: Record | None,
    note: Record | None,
) -> list[Told]:
    """
    Args:
        before, after: what the watch said last and says now; None: there is no such layout.
        metadata: `requestMetadata` of whom caused it.
        note: what the diff cannot tell, by `batch`, `create` or `update`; what stands under `layer`.
    """
    said = {"requestMetadata": metadata or {}}
    shown_before = None if before is None or before.deleting else before
    shown_after = None if after is None or after.deleting else after
    if shown_after is None:
        if shown_before is None:
            return []
        return [Told("layout", DELETE, {"id": shown_before.name, **said}, target)]
    project = view.get(PROJECT, str(shown_after.spec.get("projectId")))
    record = layout_record(shown_after, project)
    told: list[Told] = []
    if shown_before is None:
        told.append(Told("layout", CREATE, {**record, **said}, target))
    elif record != layout_record(shown_before, project):
        told.append(Told("layout", UPDATE, {**record, **said}, target))
    if note and BATCH in note:
        return [*told, Told("layer", BATCH, note[BATCH], target)]
    return told + _layers(shown_before, shown_after, target, said, note or {})


def _layers(before: Entry | None, after: Entry, target: Target, said: Record, note: Record) -> list[Told]:
    old, new = layers_of(before) if before else {}, layers_of(after)
    noted = {str(record.get("id")): record for record in note.values()}
    told = [
        Told("layer", CREATE if layer_id not in old else UPDATE, record, target, layer_id)
        for layer_id, layer in new.items()
        if old.get(layer_id) != layer
        and (record := noted.get(layer_id) or {**(layer_record(after, layer_id) or {}), **said})
    ]
    return told + [
        Told("layer", DELETE, {"id": layer_id, "layoutId": after.name, **said}, target, layer_id)
        for layer_id in old
        if layer_id not in new
    ]
