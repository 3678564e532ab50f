"""What the change of a layout announces."""

from __future__ import annotations

from typing import Any

import pytest

from onair_api.access.target import Target
from onair_api.cache.view import View
from onair_api.event.changes.layout_announcements import layout_announcements
from onair_api.event.changes.resource_change import ResourceChange
from onair_api.event.event import Position
from onair_api.writes.request_note import StoredNote
from onair_crds.kube.store import Entry
from onair_crds.shapes import JsonObject

TARGET = Target("c", "p", "lay")
NOTE = StoredNote("n", "studio", {"why": 1}, may_have_details=False)


def layout(version: int, *layers: JsonObject, deleting: bool = False, **spec: Any) -> Entry:
    metadata = {"name": "lay", "uid": "u", "resourceVersion": str(version)}
    if deleting:
        metadata["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    return Entry("Layout", {"metadata": metadata, "spec": {"projectId": "p", "layers": list(layers), **spec}})


def layer(id_: str, **fields: Any) -> JsonObject:
    return {"id": id_, "type": "text", **fields}


def announced(
    before: Entry | None,
    after: Entry | None,
    note: StoredNote | None = None,
    details: JsonObject | None = None,
) -> list[tuple[str, str, JsonObject]]:
    change = ResourceChange("Layout", before, after, Position(2), note, deadline=0.0)
    found = layout_announcements(change, TARGET, View(), details)
    assert all(each.target == TARGET for each in found)
    return [(each.type, each.sub_type, each.record) for each in found]


def test_each_layer_that_differs_is_announced_and_no_other() -> None:
    before = layout(1, layer("same"), layer("moved", x=1), layer("gone"))
    after = layout(2, layer("same"), layer("moved", x=2), layer("new"))
    found = announced(before, after, NOTE)
    assert [(type_, sub_type, record["id"]) for type_, sub_type, record in found] == [
        ("layer", "update", "moved"),
        ("layer", "create", "new"),
        ("layer", "delete", "gone"),
    ]
    assert all(record["requestMetadata"] == {"why": 1} for _, _, record in found)


def test_a_layout_is_announced_when_its_own_fields_change() -> None:
    ((type_, sub_type, record),) = announced(layout(1, width=1), layout(2, width=2))
    assert (type_, sub_type, record["width"], record["requestMetadata"]) == ("layout", "update", 2, {})


@pytest.mark.parametrize(("old", "new"), [(0, False), (False, 0), (1, True), ([{"on": 1}], [{"on": True}])])
def test_a_number_that_becomes_a_boolean_is_a_change(old: Any, new: Any) -> None:
    (layout_change,) = announced(layout(1, metadata={"on": old}), layout(2, metadata={"on": new}))
    assert layout_change[2]["metadata"] == {"on": new}
    before, after = (layout(i, layer("a", data={"on": on})) for i, on in ((1, old), (2, new)))
    ((type_, sub_type, record),) = announced(before, after)
    assert (type_, sub_type, record["data"]) == ("layer", "update", {"on": new})


def test_a_deletion_is_announced_once_when_it_begins() -> None:
    going = layout(2, layer("a"), deleting=True)
    assert announced(layout(1, layer("a")), going) == [
        ("layout", "delete", {"id": "lay", "requestMetadata": {}})
    ]
    assert announced(going, None) == []


def test_a_batch_is_announced_as_one_instead_of_its_layers() -> None:
    batch = {"layers": [], "layoutId": "lay"}
    assert announced(layout(1), layout(2, layer("a")), details={"batch": batch}) == [
        ("layer", "batch", batch)
    ]


def test_a_layers_details_replace_the_record_of_the_difference() -> None:
    record = {"id": "a", "x": 2, "requestAnimation": [{"durationMs": 5}]}
    after = layout(2, layer("a", x=2), layer("b", x=2))
    found = announced(layout(1, layer("a"), layer("b")), after, details={"update": record})
    assert found[0] == ("layer", "update", record)
    assert found[1][2]["requestAnimation"] == []
