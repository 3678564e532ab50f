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
from onair_crds.shapes import JsonObject


def layout_announcements(
    change: ResourceChange, target: Target, view: View, details: JsonObject | None
) -> list[Announcement]:
    """Returns what a change of a layout announces.

    Args:
        target: the layout's, complete.
        details: what the difference of two versions does not show: `layer` of the payload, by `batch`,
            `create` or `update`.
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
    old, new = layers_of(before) if before else {}, layers_of(after)
    changed = [layer_id for layer_id, layer in new.items() if not same(old.get(layer_id), layer)]
    gone = [layer_id for layer_id in old if layer_id not in new]
    if details and BATCH in details:
        places = max(len(changed) + len(gone), 1)
        return [*found, Announcement("layer", BATCH, details[BATCH], target, places=places)]
    detailed = {str(record.get("id")): record for record in (details or {}).values()}
    for layer_id in changed:
        kind = UPDATE if layer_id in old else CREATE
        record = detailed.get(layer_id) or {**(layer_record(after, layer_id) or {}), **metadata}
        found.append(Announcement("layer", kind, record, target, layer_id))
    for layer_id in gone:
        record = {"id": layer_id, "layoutId": after.name, **metadata}
        found.append(Announcement("layer", DELETE, record, target, layer_id))
    return found
