"""Announces the change of a layout: of the layout itself, and of its layers."""

from __future__ import annotations

from onair_api.access.target import Target
from onair_api.cache.view import View
from onair_api.cache.watched_kinds import PROJECT
from onair_api.event.changes.announcement import BATCH, CREATE, DELETE, UPDATE, Announcement
from onair_api.event.changes.resource_change import ResourceChange
from onair_api.layout.layer.record import layer_record, layers_of
from onair_api.layout.record import layout_record
from onair_api.writes.json_patch import same
from onair_crds.contract.layers import LayersById
from onair_crds.kube.store import Entry
from onair_crds.shapes import JsonObject

UNNOTED: JsonObject = {"requestMetadata": {}}
"""In records of changes that no request is known of."""
OF_REQUEST = ("requestMetadata", "requestAnimation")
"""Fields of a record that are of its request, and not of the layer."""


def layout_announcements(
    change: ResourceChange, target: Target, view: View, details: JsonObject | None
) -> list[Announcement]:
    """Returns what a change of a layout announces.

    Args:
        target: the layout's, complete.
        details: what the difference of two versions does not show: `layer` of the payload, by `batch`,
            `create` or `update`. A batch is announced instead of the difference, beside what others did
            where the watch did not show each version.
    """
    metadata: JsonObject = {"requestMetadata": (change.note and change.note.metadata) or {}}
    before = None if change.before is None or change.before.deleting else change.before
    after = None if change.after is None or change.after.deleting else change.after
    if after is None:
        if before is None:
            return []
        return [Announcement("layout", DELETE, {"id": before.name, **metadata}, target)]
    project = view.get(PROJECT, str(after.spec.get("projectId")))
    record = layout_record(after, project)
    found: list[Announcement] = []
    if before is None:
        found.append(Announcement("layout", CREATE, {**record, **metadata}, target))
    elif not same(record, layout_record(before, project)):
        found.append(Announcement("layout", UPDATE, {**record, **metadata}, target))
    kinds = _differences(layers_of(before) if before else {}, layers_of(after))
    if details and BATCH in details:
        return [*found, *_batch(change, after, target, kinds, details[BATCH])]
    detailed = {str(record.get("id")): record for record in (details or {}).values()}
    for layer_id, kind in kinds.items():
        given = detailed.get(layer_id)
        if given is None or kind == DELETE or (_others_changed(change) and not _says(given, after)):
            given = _record(after, layer_id, kind, metadata)
        found.append(Announcement("layer", kind, given, target, layer_id))
    return found


def _differences(old: LayersById, new: LayersById) -> dict[str, str]:
    """What became of each layer that is not the same; deletions come last."""
    changed = {
        layer_id: UPDATE if layer_id in old else CREATE
        for layer_id, layer in new.items()
        if not same(old.get(layer_id), layer)
    }
    return changed | {layer_id: DELETE for layer_id in old if layer_id not in new}


def _batch(
    change: ResourceChange, after: Entry, target: Target, kinds: dict[str, str], batch: JsonObject
) -> list[Announcement]:
    """A batch, instead of the difference; what others did in the meantime is announced beside it.

    A new layer that it only updates comes before it. What is otherwise than it says, or what it does not say,
    comes after it: the last that is announced of a layer is as the layer is.
    """
    first: dict[str, str] = {}
    rest: dict[str, str] = {}
    if _others_changed(change):
        items = [(kind, record) for item in batch["layers"] for kind, record in item.items()]
        named = {(str(record.get("id")), kind) for kind, record in items}
        last = {str(record.get("id")): record for _, record in items}
        for layer_id in {**kinds, **last}:
            there, new = layer_id in layers_of(after), kinds.get(layer_id) == CREATE
            created, deleted = (layer_id, CREATE) in named, (layer_id, DELETE) in named
            if new and (layer_id, UPDATE) in named and not created:
                first[layer_id] = CREATE
            known = not deleted and (not new or created or layer_id in first)
            if deleted == there or (there and not _says(last.get(layer_id), after)):
                rest[layer_id] = DELETE if not there else UPDATE if known else CREATE
    places = max(len(kinds) - len(first) - len(rest), 1)
    return [
        *_of_others(first, after, target),
        Announcement("layer", BATCH, batch, target, places=places),
        *_of_others(rest, after, target),
    ]


def _others_changed(change: ResourceChange) -> bool:
    """Whether others changed the layout as well between two versions: a batch is one change of its spec."""
    if change.before is None or change.after is None:
        return True
    return _generation(change.after) - _generation(change.before) > 1


def _generation(entry: Entry) -> int:
    return int(entry.metadata.get("generation") or 0)


def _of_others(kinds: dict[str, str], after: Entry, target: Target) -> list[Announcement]:
    return [
        Announcement("layer", kind, _record(after, layer_id, kind, UNNOTED), target, layer_id, of_others=True)
        for layer_id, kind in kinds.items()
    ]


def _record(after: Entry, layer_id: str, kind: str, metadata: JsonObject) -> JsonObject:
    if kind == DELETE:
        return {"id": layer_id, "layoutId": after.name, **metadata}
    return {**(layer_record(after, layer_id) or {}), **metadata}


def _says(record: JsonObject | None, after: Entry) -> bool:
    """Whether a layer is as the record of a write says, as far as that goes."""
    if record is None:
        return False
    layer = layer_record(after, str(record.get("id"))) or {}
    return all(name in OF_REQUEST or same(value, layer.get(name)) for name, value in record.items())
