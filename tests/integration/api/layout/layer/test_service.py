"""Layers over HTTP, one by one."""

from __future__ import annotations

import pytest
from tests.support.facade import FacadeThread, Show, StoredResources
from tests.support.layouts import PLAIN, ROOT, LayoutClient, layout, scene
from tests.support.tokens import assert_error, violations_of
from tests.support.waiting import wait_for

from onair_crds.shapes import JsonObject

FULL: JsonObject = {
    "type": "video",
    "data": {"media": {"url": "https://a.example/v.mp4", "volume": 0.5, "loop": None}},
    "x": -10_000,
    "y": 10_000,
    "width": 0,
    "height": 10_000,
    "rotation": -359.5,
    "opacity": 0.25,
    "scale": 4,
    "hidden": True,
    "metadata": {"name": "clip", "tags": [None, 1]},
}


def test_a_layer_comes_back_as_it_was_sent(canvas: LayoutClient) -> None:
    root = canvas.root()
    made = canvas.add(**FULL, parentId=root)
    assert made == {
        **FULL,
        "id": made["id"],
        "layoutId": canvas.id,
        "children": [],
        "parentId": root,
        "requestAnimation": [],
    }
    assert canvas.layer(made["id"]) == made
    assert canvas.layers()[1] == made
    assert canvas.children(root) == [made["id"]]


def test_only_the_type_has_no_default(canvas: LayoutClient) -> None:
    made = canvas.add("text")
    assert made == {**PLAIN, "id": made["id"], "layoutId": canvas.id}
    assert canvas.layer(made["id"]) == made
    assert canvas.layers()[1] == made, "a detached layer is kept and listed"
    assert set(violations_of(canvas.call("POST", "/layers", {}))) == {"type"}
    made = canvas.add("text", id="mine", data=None, metadata=None, children=None, parentId=None, x=None)
    assert made == {**PLAIN, "id": made["id"], "layoutId": canvas.id}
    assert made["id"] != "mine", "ids are assigned"


def test_fractions_are_rounded_and_numbers_may_be_text(canvas: LayoutClient) -> None:
    made = canvas.add("text", x=10.5, y=-10.5, width="20.4", height="7", rotation="1.25", scale=1.0)
    assert [made[name] for name in ("x", "y", "width", "height", "rotation", "scale")] == [
        *(11, -10, 20, 7),
        *(1.25, 1),
    ]
    assert canvas.layer(made["id"]) == made


WRONG: list[tuple[JsonObject, set[str]]] = [
    ({"x": 10_001, "y": -10_001, "width": -1, "height": 10_000.6}, {"x", "y", "width", "height"}),
    ({"rotation": 360.5, "opacity": 1.01, "scale": 4.5}, {"rotation", "opacity", "scale"}),
    ({"rotation": -361, "opacity": -0.1, "scale": -1}, {"rotation", "opacity", "scale"}),
    ({"x": "left", "hidden": "no", "opacity": True}, {"x", "hidden", "opacity"}),
    ({"type": 5, "data": [], "metadata": "m"}, {"type", "data", "metadata"}),
    ({"type": "", "children": {}, "parentId": []}, {"type", "children", "parentId"}),
    ({"type": "t" * 129, "children": [1, "a" * 64]}, {"type", "children[0]", "children[1]"}),
    ({"metadata": {"a": "x" * 262_144}}, {"metadata"}),
    ({"requestMetadata": []}, {"requestMetadata"}),
    ({"requestMetadata": {"a": "x" * 16_384}}, {"requestMetadata"}),
    ({"requestAnimation": {}}, {"requestAnimation"}),
    (
        {"requestAnimation": [{}]},
        {"requestAnimation[0].properties", "requestAnimation[0].durationMs"},
    ),
    (
        {
            "requestAnimation": [
                {"properties": ["x", "*"], "durationMs": 1},
                {"properties": ["z"], "durationMs": 30_001, "delayMs": -1, "easingMode": "fast"},
            ]
        },
        {
            "requestAnimation[1].properties[0]",
            "requestAnimation[1].durationMs",
            "requestAnimation[1].delayMs",
            "requestAnimation[1].easingMode",
        },
    ),
    ({"requestAnimation": [{"properties": [], "durationMs": "x"}]}, {"requestAnimation[0].durationMs"}),
    ({"parentId": "missing"}, {"parentId"}),
    ({"children": ["missing"]}, {"children[0]"}),
]


@pytest.mark.parametrize(("body", "named"), WRONG)
def test_a_wrong_layer_is_refused_everywhere_alike(
    canvas: LayoutClient, body: JsonObject, named: set[str]
) -> None:
    before = canvas.layers()
    loose = canvas.add("text")
    assert named <= set(violations_of(canvas.call("POST", "/layers", {"type": "text", **body})))
    assert named <= set(violations_of(canvas.call("PATCH", f"/layers/{loose['id']}", body)))
    items = [
        {"create": {"type": "a"}},
        {"create": {"type": "text", **body}},
        {"update": {"id": loose["id"], **body}},
    ]
    response = canvas.call("POST", "/layers/batch", {"layers": items})
    assert {f"layers[1].create.{name}" for name in named} <= set(violations_of(response))
    if named.isdisjoint({"parentId", "children[0]"}) or len(named) > 1:
        assert {f"layers[2].update.{name}" for name in named} <= set(violations_of(response))
    assert canvas.layers() == [*before, loose], "nothing is half made"


def test_an_update_changes_what_is_sent_alone(canvas: LayoutClient) -> None:
    made = canvas.add(**FULL)
    changed = canvas.patch(made["id"], x=None, width=None, opacity=0, data={"a": {}}, metadata={}, scale=None)
    expected = {**made, "x": None, "width": None, "opacity": 0, "data": {"a": {}}, "metadata": {}}
    assert changed == expected
    assert canvas.patch(made["id"], type="text", data={"b": 1}) == {
        **expected,
        "type": "text",
        "data": {"b": 1},
    }
    assert canvas.patch(made["id"]) == canvas.layer(made["id"])


def test_an_update_patches_its_own_fields_alone(canvas: LayoutClient, resources: StoredResources) -> None:
    one, other = canvas.add("text"), canvas.add("text")
    before = resources.get("layouts", canvas.id)["spec"]["layers"]
    canvas.patch(one["id"], x=3)
    after = resources.get("layouts", canvas.id)["spec"]["layers"]
    assert after == [before[0], {**before[1], "x": 3}, before[2]]
    assert after[2]["id"] == other["id"]


def test_what_is_not_there(canvas: LayoutClient) -> None:
    elsewhere = scene(canvas.user.project()).root()
    for layer in ("missing", "batch", elsewhere, "Not A Name", "index:0"):
        for method, body in (("GET", None), ("PATCH", {"x": 1}), ("DELETE", None)):
            assert_error(canvas.call(method, f"/layers/{layer}", body), 404, 5)
    response = canvas.call("PATCH", f"/layers/{canvas.root()}", {"children": [elsewhere]})
    assert violations_of(response) == {"children[0]": "names no layer of this layout"}


# a scene's tree


def test_children_are_the_stacking_order_and_layers_move(canvas: LayoutClient) -> None:
    root = canvas.root()
    a, b, c = (canvas.add("square", parentId=root)["id"] for _ in range(3))
    assert canvas.children(root) == [a, b, c]
    assert canvas.patch(root, children=[c, a, b])["children"] == [c, a, b]
    canvas.patch(a, children=[b])
    assert canvas.children(root) == [c, a]
    assert canvas.layer(b)["parentId"] == a
    canvas.patch(c, parentId=a)
    assert (canvas.children(root), canvas.children(a)) == ([a], [b, c])
    canvas.patch(root, children=[])
    detached = canvas.layer(a)
    assert "parentId" not in detached
    assert detached["children"] == [b, c]
    assert len(canvas.layers()) == 4


def test_a_scenes_rules(canvas: LayoutClient) -> None:
    root = canvas.root()
    a = canvas.add("square", parentId=root)["id"]
    b = canvas.add("square", parentId=a)["id"]
    assert set(violations_of(canvas.call("PATCH", f"/layers/{a}", {"parentId": b}))) == {"parentId"}
    assert set(violations_of(canvas.call("PATCH", f"/layers/{b}", {"children": [a]}))) == {"children"}
    assert set(violations_of(canvas.call("PATCH", f"/layers/{root}", {"parentId": a}))) == {"parentId"}
    assert set(violations_of(canvas.call("POST", "/layers", {"type": "root"}))) == {"type"}
    response = canvas.call("DELETE", f"/layers/{root}")
    assert_error(response, 400, 9)
    assert response.json()["message"] == "the root layer of a scene cannot be deleted"
    assert canvas.children(root) == [a]


def test_a_deletion_takes_descendants(canvas: LayoutClient) -> None:
    root = canvas.root()
    a = canvas.add("square", parentId=root)["id"]
    b = canvas.add("square", parentId=a)["id"]
    assert canvas.delete(a) == {"id": a, "layoutId": canvas.id}
    assert [each["id"] for each in canvas.layers()] == [root]
    assert canvas.children(root) == []
    for gone in (a, b):
        assert_error(canvas.call("DELETE", f"/layers/{gone}"), 404, 5)


def test_a_sceneless_layout_keeps_what_is_sent(show: Show) -> None:
    canvas = layout(show)
    first = canvas.add("root", children=["later", "later"])
    assert first["children"] == ["later", "later"]
    second = canvas.add("root", parentId="anybody")
    assert second["parentId"] == "anybody"
    canvas.patch(first["id"], children=[second["id"], first["id"]])
    assert canvas.children(first["id"]) == [second["id"], first["id"]]
    assert canvas.layer(second["id"])["parentId"] == "anybody"
    canvas.delete(first["id"])
    assert canvas.layers() == []


# what a manifest made


def test_a_manifests_scene_is_one_tree(show: Show, resources: StoredResources, facade: FacadeThread) -> None:
    name = f"by-hand-{show.id}"
    layers = [
        {"id": "root", "type": "root", "children": ["a", "missing"]},
        {"id": "a", "type": "text", "data": [1]},
        {"id": "b", "type": "text", "parentId": "root"},
    ]
    spec = {"projectId": show.id, "type": "Scene", "layers": layers}
    resources.apply("Layout", "layouts", name, spec)
    wait_for(lambda: facade.view.get("Layout", name), "the layout is seen")
    canvas = LayoutClient(show.user, show.user.ok("GET", f"{ROOT}/{name}"))
    assert canvas.children("root") == ["a", "b"]
    assert canvas.layer("a")["parentId"] == "root"
    assert canvas.layer("a")["data"] == {}
    assert canvas.patch("b", children=["a"])["children"] == ["a"]
    assert canvas.children("root") == ["b"]


def test_responses_have_the_fields_that_the_document_names(
    canvas: LayoutClient, facade: FacadeThread
) -> None:
    schemas = facade.http.get("/openapi.json").json()["components"]["schemas"]
    made = canvas.add("text", requestMetadata={"a": 1}, parentId=canvas.root())
    deleted = canvas.batch({"delete": {"id": canvas.add("text")["id"]}}, requestMetadata={})
    shown = {
        "v2Layout": [canvas.get()],
        "v2Layer": [made, *canvas.layers()],
        "BatchResponse": [deleted, canvas.batch()],
        "DeleteLayerResponse": [deleted["layers"][0]["delete"], canvas.delete(made["id"])],
    }
    for name, responses in shown.items():
        for response in responses:
            assert set(schemas[name]["required"]) <= set(response) <= set(schemas[name]["properties"]), name
