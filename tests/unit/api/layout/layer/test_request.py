"""Whatever a body holds, it is refused with named fields or makes a valid tree."""

from __future__ import annotations

import itertools

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from onair_api.errors import MAX_VIOLATIONS, InvalidArgument, RpcError
from onair_api.layout.layer.batch import batch_request
from onair_api.layout.layer.record import batch_response, event_record
from onair_api.layout.layer.tree import applied
from onair_api.settings import LimitSettings
from onair_crds.contract.layers import LayersById, consistent
from onair_crds.runtime.steps import at_once
from onair_crds.shapes import JsonObject

LIMITS = LimitSettings()
LAYERS: LayersById = {
    "root": {"id": "root", "type": "root", "children": ["a"]},
    "a": {"id": "a", "type": "text", "parentId": "root"},
}

anything = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63) | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)
names = st.sampled_from(["root", "a", "index:0", "index:1", "index:9", "missing", "text"])
fields = st.sampled_from(
    [
        *("id", "type", "data", "x", "y", "width", "height", "rotation", "opacity", "scale", "hidden"),
        *("children", "parentId", "metadata", "requestMetadata", "requestAnimation"),
    ]
)
values = st.one_of(names, names, st.lists(names, max_size=3), st.integers(-3, 3), anything)
layers = st.dictionaries(fields, values, max_size=5)
wanted = st.builds(lambda rest, type_: {"type": type_, **rest}, layers, names)
items = st.one_of(
    st.builds(lambda layer: {"create": layer}, wanted),
    st.builds(lambda name, layer: {"update": {**layer, "id": name}}, names, layers),
    st.builds(lambda name: {"delete": {"id": name}}, names),
    st.dictionaries(st.sampled_from(["create", "update", "delete"]), anything | layers, max_size=2),
    anything,
)
bodies = st.fixed_dictionaries(
    {"layers": st.lists(items, max_size=4)},
    optional={"requestMetadata": anything, "requestAnimationMode": anything},
)


@settings(max_examples=600, deadline=None)
@given(bodies, st.booleans())
def test_a_batch_is_refused_or_makes_a_valid_tree(body: JsonObject, scene: bool) -> None:
    numbers, refused = itertools.count(), None
    try:
        request = at_once(batch_request(body, lambda: f"new{next(numbers)}", LIMITS))
    except InvalidArgument as error:
        refused = error
    if refused:
        assert all(each.field and each.description for each in refused.violations)
        return
    try:
        outcome = at_once(applied(LAYERS, [each.operation for each in request.layers], scene=scene))
    except RpcError:
        return
    if scene:
        assert consistent(outcome.layers) is outcome.layers
    response = at_once(batch_response("lay", request, outcome.results))
    assert len(response["layers"]) == len(body["layers"])
    assert orjson.dumps(at_once(event_record(response)))


def test_a_batch_of_wrong_items_is_read_until_an_error_names_no_more() -> None:
    begun = itertools.count()
    with pytest.raises(InvalidArgument) as caught:
        at_once(
            batch_request(
                {"layers": [{"create": {"type": "text", "children": [1] * 40}}] * 1000},
                lambda: f"new{next(begun)}",
                LIMITS,
            )
        )
    assert next(begun) == 3
    assert [each.field for each in caught.value.violations] == [
        f"layers[{i // 40}].create.children[{i % 40}]" for i in range(MAX_VIOLATIONS)
    ]


def test_what_belongs_to_the_request_is_read_in_either_spelling() -> None:
    camel = {
        "layers": [{"delete": {"id": "a", "requestMetadata": {"n": 1}}}],
        "requestMetadata": {"by": "me"},
        "requestAnimationMode": "REQUEST_ANIMATION_MODE_SERIES",
    }
    snake = {
        "layers": [{"delete": {"id": "a", "request_metadata": {"n": 1}}}],
        "request_metadata": {"by": "me"},
        "request_animation_mode": "REQUEST_ANIMATION_MODE_SERIES",
    }
    made = at_once(batch_request(snake, lambda: "new", LIMITS))
    assert made == at_once(batch_request(camel, lambda: "new", LIMITS))
    assert made.metadata == {"by": "me"}
    assert made.layers[0].metadata == {"n": 1}
