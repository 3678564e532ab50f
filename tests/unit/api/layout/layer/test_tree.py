"""What operations make of a layout's tree: tables, and batches against a simple model."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onair_api.errors import FailedPrecondition, InvalidArgument, NotFound, RpcError
from onair_api.layout.layer import links as links_module
from onair_api.layout.layer import tree as tree_module
from onair_api.layout.layer.tree import MAX_CHILDREN, Create, Delete, LayerOperation, Outcome, Update
from onair_crds.contract.layers import Layer, LayersById, children_of, consistent
from onair_crds.resources.layout import MAX_LAYERS
from onair_crds.runtime.steps import at_once
from onair_crds.shapes import Document


def applied(layers: LayersById, operations: Sequence[LayerOperation], *, scene: bool) -> Outcome:
    return at_once(tree_module.applied(layers, operations, scene=scene))


def tree(**shape: str) -> LayersById:
    """`tree(root="a b", a="c")`: layers and their children; the one named root is of that type."""
    names = list(dict.fromkeys([*shape, *(c for below in shape.values() for c in below.split())]))
    parents = {c: parent for parent, below in shape.items() for c in below.split()}
    return {
        name: {
            "id": name,
            "type": "root" if name == "root" else "text",
            **({"children": shape[name].split()} if shape.get(name) else {}),
            **({"parentId": parents[name]} if name in parents else {}),
        }
        for name in names
    }


def shape(layers: LayersById) -> dict[str, str]:
    """The inverse of `tree`; checks that parents agree with children."""
    for name, layer in layers.items():
        for child in layer.get("children", []):
            assert layers[child]["parentId"] == name
        if "parentId" in layer:
            assert name in layers[layer["parentId"]]["children"]
    return {name: " ".join(layer.get("children", [])) for name, layer in layers.items()}


def put(layer: str, children: str | None = None, parent: str | None = None) -> Update:
    values: Document = {} if children is None else {"children": children.split()}
    return Update(layer, values | ({"parentId": parent} if parent else {}), path="u")


def new(layer: str, children: str = "", parent: str | None = None, type_: str = "text") -> Create:
    values: Document = {"type": type_, "children": children.split()}
    return Create(layer, values | ({"parentId": parent} if parent else {}), path="c")


BEFORE = {"root": "a b", "a": "c d", "b": "", "c": "", "d": "", "loose": ""}


@pytest.mark.parametrize(
    ("operations", "changed"),
    [
        ([put("root", "b a")], {"root": "b a"}),
        ([put("root", "a")], {"root": "a"}),
        ([put("a", "")], {"a": ""}),
        ([put("b", "c")], {"a": "d", "b": "c"}),
        ([put("b", "d c")], {"a": "", "b": "d c"}),
        ([put("c", parent="b")], {"a": "d", "b": "c"}),
        ([put("loose", parent="a")], {"a": "c d loose"}),
        ([put("c", parent="a")], {}),
        ([put("a", "c d")], {}),
        ([put("root", "b"), put("b", "a")], {"root": "b", "b": "a"}),
        ([put("b", "a")], {"root": "b", "b": "a"}),
        ([put("c", "loose", "b")], {"a": "d", "b": "c", "c": "loose"}),
        ([new("n")], {"n": ""}),
        ([new("n", parent="root")], {"root": "a b n", "n": ""}),
        ([new("n", "c loose", "root")], {"root": "a b n", "a": "d", "n": "c loose"}),
        ([new("n"), put("root", "n a b")], {"root": "n a b", "n": ""}),
        ([new("n"), new("m", "n"), put("a", "m")], {"a": "m", "m": "n", "n": ""}),
        ([put("a", "", "b"), put("b", "", "a")], {"root": "", "a": "b", "b": ""}),
    ],
)
def test_a_scene_keeps_one_tree(operations: list[LayerOperation], changed: dict[str, str]) -> None:
    before = tree(**BEFORE)
    assert shape(applied(before, operations, scene=True).layers) == {**BEFORE, **changed}
    assert before == tree(**BEFORE), "what was there is not touched"


@pytest.mark.parametrize(
    ("operation", "left"),
    [
        ("a", {"root": "b", "b": "", "loose": ""}),
        ("c", {**BEFORE, "a": "d", "c": None}),
        ("loose", {**BEFORE, "loose": None}),
    ],
)
def test_a_deletion_takes_descendants(operation: str, left: dict[str, str | None]) -> None:
    after = applied(tree(**BEFORE), [Delete(operation)], scene=True).layers
    assert shape(after) == {name: below for name, below in left.items() if below is not None}


def test_deleting_what_the_batch_already_took_succeeds() -> None:
    outcome = applied(tree(**BEFORE), [Delete("a"), Delete("c"), Delete("a")], scene=True)
    assert shape(outcome.layers) == {"root": "b", "b": "", "loose": ""}
    assert [each["id"] for each in outcome.results] == ["a", "c", "a"]


def test_results_are_the_layers_at_the_end() -> None:
    operations: list[LayerOperation] = [Update("b", {"x": 1}), new("n"), put("b", "n"), Delete("n")]
    results = applied(tree(**BEFORE), operations, scene=True).results
    assert results[0] == {"id": "b", "type": "text", "x": 1, "parentId": "root"}
    assert results[1]["id"] == "n", "one that the batch deleted is as it last was"


@pytest.mark.parametrize(
    ("operations", "error", "says"),
    [
        ([put("a", "c c")], InvalidArgument, "u.children[1]: names a layer twice"),
        ([put("a", "x")], InvalidArgument, "u.children[0]: names no layer of this layout"),
        ([put("a", "c a")], InvalidArgument, "u.children[1]: must not be the layer itself"),
        ([put("a", "root")], InvalidArgument, "u.children[0]: must not be the root layer"),
        ([put("c", "a")], InvalidArgument, "u.children: must not put a layer below itself: that is a cycle"),
        (
            [put("a", parent="c")],
            InvalidArgument,
            "u.parentId: must not put a layer below itself: that is a cycle",
        ),
        (
            [put("a", "b", "b")],
            InvalidArgument,
            "u.children: must not put a layer below itself: that is a cycle",
        ),
        ([put("a", parent="a")], InvalidArgument, "u.parentId: must not be the layer itself"),
        ([put("a", parent="x")], InvalidArgument, "u.parentId: names no layer of this layout"),
        ([put("root", parent="loose")], InvalidArgument, "u.parentId: the root layer has no parent"),
        ([new("n", parent="x")], InvalidArgument, "c.parentId: names no layer of this layout"),
        ([new("n", "n")], InvalidArgument, "c.children[0]: must not be the layer itself"),
        (
            [new("n", type_="root")],
            InvalidArgument,
            "c.type: must not be root: a scene has one root layer",
        ),
        (
            [Update("root", {"type": "text"}, path="u")],
            InvalidArgument,
            "u.type: must not change to or from root: a scene has one root layer",
        ),
        (
            [Update("a", {"type": "root"}, path="u")],
            InvalidArgument,
            "u.type: must not change to or from root: a scene has one root layer",
        ),
        ([Delete("root", "d")], FailedPrecondition, "d: the root layer of a scene cannot be deleted"),
        ([Delete("x", "d")], NotFound, "d.id: the layer does not exist"),
        ([put("x")], NotFound, "u.id: the layer does not exist"),
        ([Delete("a"), put("a")], NotFound, "u.id: the layer does not exist"),
        ([Delete("a"), put("b", "c")], InvalidArgument, "u.children[0]: names no layer of this layout"),
    ],
)
def test_a_scene_refuses(operations: list[LayerOperation], error: type[RpcError], says: str) -> None:
    with pytest.raises(error) as raised:
        applied(tree(**BEFORE), operations, scene=True)
    assert raised.value.message == says


def test_a_layout_has_a_bounded_number_of_layers() -> None:
    many = {f"l{i}": {"id": f"l{i}", "type": "text"} for i in range(MAX_LAYERS)}
    for scene in (True, False):
        with pytest.raises(InvalidArgument) as raised:
            applied(many, [new("n")], scene=scene)
        assert raised.value.violations[0].field == "layers"
        assert len(applied(many, [new("n"), Delete("l0")], scene=scene).layers) == MAX_LAYERS


def test_a_sceneless_layout_keeps_what_is_sent() -> None:
    operations: list[LayerOperation] = [
        new("r", type_="root"),
        new("s", "a unknown a", type_="root"),
        put("r", "a s r"),
        put("a", parent="unknown"),
    ]
    after = applied({"a": {"id": "a", "type": "x"}}, operations, scene=False).layers
    assert after["r"]["children"] == ["a", "s", "r"]
    assert after["s"] == {"id": "s", "type": "root", "children": ["a", "unknown", "a"]}
    assert after["a"] == {"id": "a", "type": "x", "parentId": "unknown"}
    with pytest.raises(InvalidArgument):
        applied(after, [put("a", parent="a")], scene=False)


def test_a_sceneless_deletion_takes_descendants_and_leaves_no_name_behind() -> None:
    layers: LayersById = {
        "r": {"id": "r", "type": "root", "children": ["a", "b"]},
        "a": {"id": "a", "type": "x", "children": ["c", "d"]},
        "b": {"id": "b", "type": "x", "children": ["d"]},
        "c": {"id": "c", "type": "x", "children": ["a"]},
        "d": {"id": "d", "type": "x", "parentId": "a"},
        "e": {"id": "e", "type": "x", "parentId": "c"},
    }
    after = applied(layers, [Delete("a")], scene=False).layers
    assert after == {
        "r": {"id": "r", "type": "root", "children": ["b"]},
        "b": {"id": "b", "type": "x", "children": ["d"]},
        "d": {"id": "d", "type": "x"},
    }
    assert applied(layers, [Delete("r")], scene=False).layers == {}


def test_null_clears_a_field() -> None:
    layers: LayersById = {"a": {"id": "a", "type": "x", "x": 1, "y": 2}}
    after = applied(layers, [Update("a", {"y": 3}, frozenset({"x"}))], scene=False).layers
    assert after == {"a": {"id": "a", "type": "x", "y": 3}}


@pytest.mark.parametrize(
    ("stored", "expected"),
    [
        ({"root": {"children": ["a"]}, "a": {}}, {"root": "a", "a": ""}),
        ({"root": {}, "a": {"parentId": "root"}}, {"root": "a", "a": ""}),
        ({"root": {"children": ["x", "a", "a"]}, "a": {}}, {"root": "a", "a": ""}),
        ({"a": {"children": ["c"]}, "b": {"children": ["c"]}, "c": {}}, {"a": "c", "b": "", "c": ""}),
        ({"a": {"children": ["b"]}, "b": {"children": ["a"]}}, {"a": "b", "b": ""}),
        ({"a": {"parentId": "a"}, "b": {"parentId": "x"}}, {"a": "", "b": ""}),
        ({"a": {"children": ["root"]}, "root": {"children": ["a"]}}, {"a": "", "root": "a"}),
        (
            {"root": {"children": ["a"]}, "a": {}, "b": {"parentId": "root"}},
            {"root": "a b", "a": "", "b": ""},
        ),
    ],
)
def test_a_manifests_tree_is_made_consistent(stored: dict[str, Document], expected: dict[str, str]) -> None:
    layers = {
        name: {"id": name, "type": "root" if name == "root" else "x", **rest} for name, rest in stored.items()
    }
    once = consistent(layers)
    assert shape(once) == expected
    assert consistent(once) is once


@st.composite
def sceneless(draw: st.DrawFn) -> LayersById:
    """Layers of any shape: cycles, several parents, ids that are no layer's, parents that say otherwise."""
    names = [f"l{each}" for each in range(draw(st.integers(1, 7)))]
    ids = st.sampled_from([*names, "unknown"])
    layers = {}
    for name in names:
        children, parent = draw(st.lists(ids, max_size=4)), draw(st.none() | ids)
        layers[name] = {"id": name, "type": "x", "children": children, "parentId": parent}
    return {name: {k: v for k, v in layer.items() if v} for name, layer in layers.items()}


def left_by_deletion(layers: LayersById, deleted: str) -> set[str]:
    """By the rule alone: what hangs below goes, but for what a layer that stays has below it."""
    edges = {(name, child) for name, layer in layers.items() for child in layer.get("children", [])}
    edges |= {(layer["parentId"], name) for name, layer in layers.items() if "parentId" in layer}
    taken, grown = {deleted}, True
    while grown:
        more = {child for above, child in edges if above in taken and child in layers} - taken
        taken, grown = taken | more, bool(more)
    left, grown = set(layers) - taken, True
    while grown:
        more = {child for above, child in edges if above in left and child in taken} - left - {deleted}
        left, grown = left | more, bool(more)
    return left


@given(sceneless(), st.integers(0, 6))
def test_a_sceneless_deletion_of_any_shape(layers: LayersById, which: int) -> None:
    deleted = list(layers)[which % len(layers)]
    after = applied(layers, [Delete(deleted)], scene=False).layers
    assert set(after) == left_by_deletion(layers, deleted)
    gone = set(layers) - set(after)
    for name, layer in after.items():
        before = layers[name]
        assert layer.get("children", []) == [c for c in before.get("children", []) if c not in gone]
        parent = before.get("parentId")
        assert layer.get("parentId") == (None if parent in gone else parent)


def test_a_sceneless_layer_is_deleted_however_deep_it_is() -> None:
    layers: LayersById = {
        "r": {"id": "r", "type": "root", "children": ["a"]},
        "a": {"id": "a", "type": "x", "children": ["d"]},
        "d": {"id": "d", "type": "x", "children": ["e"]},
        "e": {"id": "e", "type": "x"},
    }
    after = applied(layers, [Delete("d")], scene=False).layers
    assert after == {"r": layers["r"], "a": {"id": "a", "type": "x"}}


@pytest.mark.parametrize("scene", [True, False])
def test_a_deletion_looks_at_what_it_is_about(scene: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    looks = 0

    def counted(layer: Layer) -> list[str]:
        nonlocal looks
        looks += 1
        return children_of(layer)

    for module in (tree_module, links_module):
        monkeypatch.setattr(module, "children_of", counted)
    names = [f"l{each}" for each in range(MAX_LAYERS - 1)]
    pairs = {f"{name}": " ".join(names[at + 1 : at + 2]) for at, name in enumerate(names) if at % 2 == 0}
    layers = tree(root=" ".join(pairs), **pairs)
    after = applied(layers, [Delete(each) for each in names[:400]], scene=scene).layers
    assert len(after) == MAX_LAYERS - 400
    assert looks < 10 * MAX_LAYERS


def test_the_children_of_a_layout_are_bounded() -> None:
    layers = {f"l{each}": {"id": f"l{each}", "type": "x"} for each in range(4)}
    many = " ".join(f"unknown-{each}" for each in range(MAX_CHILDREN // 2))
    full = applied(layers, [put("l0", many), put("l1", many)], scene=False).layers
    with pytest.raises(InvalidArgument) as raised:
        applied(full, [put("l2", "l3")], scene=False)
    assert raised.value.violations[0].field == "children"
    assert str(MAX_CHILDREN) in raised.value.message
    for operation in (put("l1", "l3"), put("l2", parent="l3"), Delete("l0")):
        applied(full, [operation], scene=False)
    from_a_manifest = {**full, "l2": {"id": "l2", "type": "x", "children": many.split()}}
    assert applied(from_a_manifest, [put("l1", "l3")], scene=False).layers["l1"]["children"] == ["l3"]
