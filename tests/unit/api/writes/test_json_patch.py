"""A patch between two specs makes the one of the other."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onair_api.writes import json_patch
from onair_api.writes.json_patch import annotation_changes, compare_and_swap, same
from onair_crds.runtime.steps import at_once
from onair_crds.shapes import Document, JsonObject, JsonPatch

scalars = st.none() | st.booleans() | st.integers(-5, 5) | st.text("ab/~", max_size=3)
values = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text("ab/~", max_size=2), inner, max_size=3)
    ),
    max_leaves=10,
)
specs = st.dictionaries(st.sampled_from(["a", "b/c", "d~e", "metadata", "data"]), values, max_size=5)


def spec_changes(old: JsonObject, new: JsonObject) -> JsonPatch:
    return at_once(json_patch.spec_changes(old, new))


def applied(document: Any, patch: JsonPatch) -> Any:
    """RFC 6902, as far as it is used: add and remove of object members."""
    document = copy.deepcopy(document)
    for operation in patch:
        *parents, last = [
            part.replace("~1", "/").replace("~0", "~") for part in operation["path"].split("/")[1:]
        ]
        target = document
        for part in parents:
            target = target[part]
        if operation["op"] == "remove":
            del target[last]
        else:
            assert operation["op"] == "add"
            target[last] = operation["value"]
    return document


@given(old=specs, new=specs)
def test_applying_the_changes_gives_the_new_spec(old: Document, new: Document) -> None:
    changes = spec_changes(old, new)
    assert same(applied({"spec": old}, changes), {"spec": new})
    assert bool(changes) != same(old, new)


@given(spec=specs)
def test_an_unchanged_spec_needs_no_change(spec: Document) -> None:
    assert spec_changes(spec, copy.deepcopy(spec)) == []


@pytest.mark.parametrize(
    ("one", "other", "equal"),
    [
        (True, 1, False),
        (0, False, False),
        (1, 1.0, True),
        ([1, True], [1, 1], False),
        ({"a": [{"b": 1}]}, {"a": [{"b": True}]}, False),
        ({"a": 1, "b": [1.0]}, {"b": [1], "a": 1}, True),
        ([2**70, True], [2**70, True], True),
        ([2**70, True], [2**70, 1], False),
        ({"a": None}, {}, False),
    ],
)
def test_same_compares_as_json(one: Any, other: Any, equal: bool) -> None:
    assert same(one, other) is equal


def test_values_that_are_written_alike_are_not_compared_part_by_part(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_patch, "_same_parts", pytest.fail)
    value = {"metadata": [[[]]] * 1000, "on": True}
    assert same(value, copy.deepcopy(value))
    assert not same(value, {**copy.deepcopy(value), "on": 2})


def test_free_form_fields_are_replaced_whole() -> None:
    changes = spec_changes({"metadata": {"a": {"b": 1}}}, {"metadata": {"a": {"c": 1}}})
    assert changes == [{"op": "add", "path": "/spec/metadata", "value": {"a": {"c": 1}}}]


def test_a_compare_and_swap_names_the_version_first() -> None:
    document = {"metadata": {"resourceVersion": "7", "annotations": {"x": "y"}}}
    patch = compare_and_swap(document, annotation_changes(document, {"onair.dev/request": "n"}))
    assert patch[0] == {"op": "replace", "path": "/metadata/resourceVersion", "value": "7"}
    assert patch[1]["path"] == "/metadata/annotations/onair.dev~1request"


def test_the_first_annotation_brings_the_map() -> None:
    assert annotation_changes({"metadata": {}}, {"a": "b"}) == [
        {"op": "add", "path": "/metadata/annotations", "value": {"a": "b"}}
    ]


LAYERS = [{"id": "a", "x": 1}, {"id": "b", "metadata": {"m": 1}}, {"id": "c", "children": ["d"]}, {"id": "d"}]


@pytest.mark.parametrize(
    ("after", "expected"),
    [
        ([{"id": "a", "x": 2}, *LAYERS[1:]], [("add", "/spec/layers/0/x")]),
        ([LAYERS[0], {"id": "b", "metadata": {"n": 1}}, *LAYERS[2:]], [("add", "/spec/layers/1/metadata")]),
        (
            [LAYERS[0], {"id": "c", "children": []}, {"id": "d"}, {"id": "e"}],
            [("remove", "/spec/layers/1"), ("add", "/spec/layers/1/children"), ("add", "/spec/layers/-")],
        ),
        (LAYERS[1:3], [("remove", "/spec/layers/3"), ("remove", "/spec/layers/0")]),
        ([LAYERS[1], LAYERS[0], *LAYERS[2:]], [("add", "/spec/layers")]),
        ([*LAYERS, {"id": "a"}], [("add", "/spec/layers")]),
        ([], [("remove", f"/spec/layers/{n}") for n in (3, 2, 1, 0)]),
        (LAYERS, []),
    ],
)
def test_of_a_keyed_list_only_what_changed_is_sent(after: Any, expected: list[tuple[str, str]]) -> None:
    changes = spec_changes({"layers": LAYERS}, {"layers": after})
    assert [(each["op"], each["path"]) for each in changes] == expected


def test_a_keyed_list_that_changed_much_is_sent_whole() -> None:
    many = [{"id": str(n)} for n in range(2001)]
    assert [c["path"] for c in spec_changes({"layers": []}, {"layers": many})] == ["/spec/layers"]
