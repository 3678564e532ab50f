"""What the change of a layout announces."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onair_api.access.target import Target
from onair_api.cache.view import View
from onair_api.event.changes.layout_announcements import layout_announcements
from onair_api.event.changes.resource_change import ResourceChange
from onair_api.event.event import Position
from onair_api.writes.request_note import StoredNote
from onair_crds.kube.store import Entry
from onair_crds.shapes import Document, JsonObject

TARGET = Target("c", "p", "lay")
NOTE = StoredNote("n", "studio", {"why": 1}, may_have_details=False)


def layout(version: int, *layers: JsonObject, deleting: bool = False, **spec: Any) -> Entry:
    metadata: Document = {"name": "lay", "uid": "u", "resourceVersion": str(version), "generation": version}
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


def batch_of(**items: JsonObject) -> JsonObject:
    """Named by what it does to which layer: `update_r`."""
    named = [(name.split("_"), fields) for name, fields in items.items()]
    return {"layers": [{kind: {"id": id_, **fields}} for (kind, id_), fields in named], "layoutId": "lay"}


BATCH = batch_of(update_r={"x": 5}, create_made={}, update_y={"x": 5}, delete_dropped={})
AFTER = layout(14, layer("r", x=5), layer("y", x=5), layer("made"))


def of_layers(found: list[tuple[str, str, JsonObject]]) -> list[tuple[str, Any]]:
    return [(sub_type, record.get("id")) for type_, sub_type, record in found if type_ == "layer"]


def test_a_batch_alone_is_announced_where_nobody_else_changed_the_layout() -> None:
    before = layout(13, layer("r"), layer("y"), layer("dropped"), layer("descendant"))
    assert announced(before, AFTER, NOTE, {"batch": BATCH}) == [("layer", "batch", BATCH)]


def test_what_others_did_before_a_batch_that_was_not_seen_is_announced_too() -> None:
    before = layout(12, layer("r"), layer("x"), layer("dropped"), layer("descendant"))
    found = announced(before, AFTER, NOTE, {"batch": BATCH})
    assert of_layers(found) == [
        ("create", "y"),
        ("batch", None),
        ("delete", "x"),
        ("delete", "descendant"),
    ], "all but what the batch itself says of them"
    assert found[0][2]["x"] == 5
    assert all(record["requestMetadata"] == {} for _, kind, record in found if kind != "batch"), (
        "they are not the batch's"
    )


def test_what_others_did_after_a_batch_is_announced_after_it() -> None:
    before = layout(12, layer("r"), layer("same", x=1), layer("kept"))
    batch = batch_of(
        update_r={"x": 5}, create_made={"x": 5}, update_same={"x": 2}, create_short={}, delete_kept={}
    )
    after = layout(14, layer("r", x=6), layer("made", x=6), layer("same", x=1), layer("kept"), layer("new"))
    found = announced(before, after, NOTE, {"batch": batch})
    assert of_layers(found) == [
        ("batch", None),
        ("update", "r"),
        ("update", "made"),
        ("create", "new"),
        ("update", "same"),
        ("delete", "short"),
        ("create", "kept"),
    ]


def test_a_layout_that_is_first_seen_after_a_batch_is_announced_with_all_its_layers() -> None:
    found = announced(None, AFTER, NOTE, {"batch": BATCH})
    assert found[0][:2] == ("layout", "create")
    assert of_layers(found) == [("create", "r"), ("create", "y"), ("batch", None)]


WRITES = st.lists(st.tuples(st.sampled_from("abcd"), st.integers(0, 3)), max_size=4)


def written(layers: dict[str, int], writes: list[tuple[str, int]]) -> tuple[dict[str, int], list[JsonObject]]:
    """The layers' `x` after some writes, where 3 deletes for good; and the items of a batch of them."""
    after, kinds = dict(layers), []
    for id_, x in writes:
        if (id_, "delete") in kinds or (x == 3 and after.pop(id_, None) is None):
            continue
        kinds.append((id_, "delete" if x == 3 else "update" if id_ in after else "create"))
        if x != 3:
            after[id_] = x
    fields = [{"id": id_} if id_ not in after else {"id": id_, "x": after[id_]} for id_, _ in kinds]
    return after, [{kind: each} for (_, kind), each in zip(kinds, fields, strict=True)]


@given(WRITES, WRITES, WRITES, WRITES)
def test_who_follows_the_events_has_the_layers_in_the_end(
    at_first: list[tuple[str, int]],
    before: list[tuple[str, int]],
    batch: list[tuple[str, int]],
    later: list[tuple[str, int]],
) -> None:
    old, _ = written({}, at_first)
    at_batch, _ = written(old, before)
    after_batch, items = written(at_batch, batch)
    new, _ = written(after_batch, later)
    others = (new != after_batch) + (at_batch != old)
    shown, now = (
        layout(version, *(layer(id_, x=x) for id_, x in layers.items()))
        for version, layers in ((1, old), (2 + others, new))
    )
    seen: dict[str, Any] = dict(old)
    for _, sub_type, record in announced(shown, now, NOTE, {"batch": {"layers": items}}):
        for kind, each in [
            pair for item in record.get("layers", [{sub_type: record}]) for pair in item.items()
        ]:
            if kind == "delete":
                seen.pop(each["id"], None)
            elif "x" in each and (kind == "create" or each["id"] in seen):
                seen[each["id"]] = each["x"]
    assert seen == new


def test_an_animation_is_not_of_what_others_made_of_its_layer_later() -> None:
    before, after = layout(12, layer("a")), layout(14, layer("a", x=3))
    record = {"id": "a", "x": 2, "requestAnimation": [{"durationMs": 5}]}
    ((_, _, found),) = announced(before, after, details={"update": record})
    assert (found["x"], found["requestAnimation"]) == (3, [])


def test_a_layers_details_replace_the_record_of_the_difference() -> None:
    record = {"id": "a", "x": 2, "requestAnimation": [{"durationMs": 5}]}
    after = layout(2, layer("a", x=2), layer("b", x=2))
    found = announced(layout(1, layer("a"), layer("b")), after, details={"update": record})
    assert found[0] == ("layer", "update", record)
    assert found[1][2]["requestAnimation"] == []
