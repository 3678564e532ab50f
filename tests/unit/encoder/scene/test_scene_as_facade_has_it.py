"""After an event the agent has what the facade has stored: random trees and batches, by the code of both."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from onair_api.access.target import Target
from onair_api.cache.view import View
from onair_api.errors import RpcError
from onair_api.event.changes.layout_announcements import layout_announcements
from onair_api.event.changes.resource_change import ResourceChange
from onair_api.event.event import Position
from onair_api.layout.layer.batch import BatchRequest
from onair_api.layout.layer.record import batch_response, event_record
from onair_api.layout.layer.request import LayerRequest
from onair_api.layout.layer.tree import Create, Delete, LayerOperation, Update, applied
from onair_crds.contract.layers import ROOT, LayersById, children_of, reached
from onair_crds.contract.scene import Canvas, ProgramLayout, ProgramScene, SceneLayer, program_layout
from onair_crds.kube.store import Entry
from onair_crds.runtime.steps import at_once
from onair_crds.shapes import JsonObject
from onair_encoder.scene.layer_events import layers_event
from onair_encoder.scene.scene import Scene

BEFORE, AFTER = 10, 11
MOST_LAYERS, MOST_ITEMS = 8, 6
BOTH = pytest.mark.parametrize("type_", ["SCENE", "SCENELESS"])
Operations = Sequence[LayerOperation]
Drawn = dict[str, list[str]]
"""By layer that hangs on the root: its children, whatever their order."""


def tree(**shape: str) -> LayersById:
    """`tree(root="a b", a="c")`, with parents as a scene has them."""
    names = list(dict.fromkeys([*shape, *" ".join(shape.values()).split()]))
    parents = {child: parent for parent, below in shape.items() for child in below.split()}
    return {
        name: {
            "id": name,
            "type": ROOT if name == "root" else "square",
            **({"children": shape[name].split()} if shape.get(name) else {}),
            **({"parentId": parents[name]} if name in parents else {}),
        }
        for name in names
    }


def put(layer: str, children: str | None = None, parent: str | None = None) -> Update:
    values: JsonObject = {} if children is None else {"children": children.split()}
    return Update(layer, values | ({"parentId": parent} if parent else {}))


def layout(version: int, type_: str, layers: LayersById) -> Entry:
    spec = {"projectId": "p", "type": type_.capitalize(), "layers": list(layers.values())}
    metadata = {"name": "stage", "uid": "u", "resourceVersion": str(version)}
    return Entry("Layout", {"metadata": metadata, "spec": spec})


def programmed(entry: Entry) -> ProgramLayout:
    return program_layout(entry.name, entry.version, entry.spec, 16, 9)


def batch_events(before: Entry, operations: Operations) -> list[JsonObject]:
    """What the replica announces that wrote it."""
    layers = {each["id"]: each for each in before.spec["layers"]}
    results = at_once(applied(layers, operations, scene=before.spec["type"] == "Scene")).results
    request = BatchRequest([LayerRequest(each) for each in operations])
    return [{"batch": at_once(event_record(at_once(batch_response(before.name, request, results))))}]


def single_events(before: Entry, after: Entry) -> list[JsonObject]:
    """What is announced of a request for one layer, of a manifest, and by replicas that know no batch."""
    change = ResourceChange("Layout", before, after, Position(AFTER), None, deadline=0.0)
    found = layout_announcements(change, Target("c", "p", before.name), View(), None)
    return [{each.sub_type: each.record} for each in found]


def drawn_after(before: Entry, events: list[JsonObject]) -> Drawn:
    shown = Scene()
    shown.take(ProgramScene(layouts=[programmed(before)]), Canvas(width=16, height=9))
    for each in events:
        told = layers_event({"payload": {"layer": each}, "resourceVersion": str(AFTER)})
        assert told
        shown.apply(told)
    return drawn(shown.state().layouts[0].layers)


def drawn(layers: Sequence[SceneLayer]) -> Drawn:
    children = {each.id: each.children for each in layers}
    return {
        each: sorted({child for child in children[each] if child in children})
        for each in reached(children, [layer.id for layer in layers if layer.type == ROOT])
    }


def is_as_the_facade_has_it(type_: str, layers: LayersById, *requests: Operations) -> None:
    """However a request is announced, after others that were."""
    *earlier, last = requests
    for request in earlier:
        layers = at_once(applied(layers, request, scene=type_ == "SCENE")).layers
    before = layout(BEFORE, type_, layers)
    after = layout(AFTER, type_, at_once(applied(layers, last, scene=type_ == "SCENE")).layers)
    stored = drawn(programmed(after).layers)
    for events in (batch_events(before, last), single_events(before, after)):
        assert drawn_after(before, events) == stored, events


UNGROUPED = tree(root="g1 g2", g1="c", c="d")


@BOTH
@pytest.mark.parametrize(
    "requests",
    [
        [[put("root", "c g2"), Delete("g1")]],
        [[put("c", parent="root"), put("root", "g2 c"), Delete("g1")]],
        [[put("root", "g1 c")], [Delete("g1")]],
        [[put("g2", "c")], [Delete("g1")]],
        [[put("g1", "g2")], [put("g1", ""), Delete("g1")]],
        [[put("g2", "c"), Delete("g1"), Delete("g2")]],
        [[put("g1", "c g2"), put("root", "g1"), Delete("g1")]],
        [[Delete("g1"), Create("n", {"type": "square", "parentId": "g2"})]],
        [[Create("n", {"type": "square", "parentId": "g1"}), Delete("g1")]],
        [[Create("n", {"type": "square", "children": ["d"]}), put("root", "g1 g2 n"), Delete("g1")]],
    ],
)
def test_what_was_moved_in_time_survives_a_deletion(type_: str, requests: list[Operations]) -> None:
    is_as_the_facade_has_it(type_, UNGROUPED, *requests)


def test_a_layer_that_leaves_a_group_by_its_parent_keeps_its_own_children() -> None:
    is_as_the_facade_has_it("SCENE", UNGROUPED, [put("c", parent="root"), Delete("g1")])


def test_a_manifest_without_a_group_keeps_what_it_names() -> None:
    before = layout(BEFORE, "SCENELESS", tree(root="g1", g1="c", c="d"))
    after = layout(AFTER, "SCENELESS", tree(root="c", c="d"))
    assert drawn_after(before, single_events(before, after)) == {"root": ["c"], "c": ["d"], "d": []}


@st.composite
def trees(draw: st.DrawFn, scene: bool) -> LayersById:
    """Without circles; in a layout without a scene a layer may have several parents, or the name of one."""
    names = [f"l{number}" for number in range(draw(st.integers(1, MOST_LAYERS)))]
    children: dict[str, list[str]] = {"root": []}
    named: JsonObject = {}
    for name in names:
        above = draw(st.lists(st.sampled_from(list(children)), max_size=1 if scene else 3, unique=True))
        for each in above:
            children[each].append(name)
        if scene and above:
            named[name] = {"parentId": above[0]}
        elif not scene and draw(st.booleans()):
            named[name] = {"parentId": draw(st.sampled_from(list(children)))}
        children[name] = []
    return {
        name: {"id": name, "type": ROOT if name == "root" else "square", **named.get(name, {})}
        | ({"children": below} if below else {})
        for name, below in children.items()
    }


@st.composite
def batches(draw: st.DrawFn, layers: LayersById, scene: bool) -> list[LayerOperation]:
    """Requests that the facade takes. Each names what is there, later ones below earlier ones."""
    found: list[LayerOperation] = []
    now = layers
    for number in range(draw(st.integers(1, MOST_ITEMS))):
        subject = draw(st.sampled_from(list(now)))
        later = list(now)[list(now).index(subject) + 1 :]
        kind = draw(st.sampled_from(["children", "parent", "create", "delete"]))
        operation: LayerOperation
        if kind == "children":
            named = draw(st.lists(st.sampled_from(later), unique=True)) if later else []
            operation = Update(subject, {"children": named})
        elif kind == "parent" and later:
            operation = Update(draw(st.sampled_from(later)), {"parentId": subject})
        elif kind == "create":
            operation = Create(f"new{number}", {"type": "square", "parentId": subject})
        elif subject != "root":
            operation = Delete(subject)
        else:
            continue
        try:
            after = at_once(applied(now, [operation], scene=scene)).layers
        except RpcError:
            continue
        now = after
        found.append(operation)
    return found


def places(layers: LayersById) -> dict[str, tuple[str | None, list[str]]]:
    """By layer: its parent, and those that name it as a child."""
    named: dict[str, list[str]] = {each: [] for each in layers}
    for each, layer in layers.items():
        for child in children_of(layer):
            named.get(child, []).append(each)
    return {each: (layer.get("parentId"), named[each]) for each, layer in layers.items()}


def moves_often(layers: LayersById, operations: Operations, *, scene: bool) -> bool:
    """Whether a batch moves a layer more than once: its event says only where that ended."""
    moved: set[str] = set()
    for each in operations:
        after = at_once(applied(layers, [each], scene=scene)).layers
        was, is_ = places(layers), places(after)
        changed = {name for name, place in is_.items() if name in was and was[name] != place}
        if changed & moved:
            return True
        moved |= changed
        layers = after
    return False


@BOTH
@given(data=st.data())
def test_any_batch_leaves_what_the_facade_has(type_: str, data: st.DataObject) -> None:
    scene = type_ == "SCENE"
    layers = data.draw(trees(scene))
    operations = data.draw(batches(layers, scene))
    assume(operations and not moves_often(layers, operations, scene=scene))
    is_as_the_facade_has_it(type_, layers, operations)
