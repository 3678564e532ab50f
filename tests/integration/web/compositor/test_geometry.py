"""Where layers are drawn: position, size, scale, rotation, opacity, order, nesting, hidden and detached."""

from __future__ import annotations

from typing import Any

import pytest
from tests.support.scene.compositor import compositor
from tests.support.scene.fake_agent import layer, scene, square, state
from tests.support.scene.picture import BLACK, BLUE, GREEN, RED, same_box

pytestmark = pytest.mark.media

Box = tuple[int, int, int, int]
SIZE: dict[str, Any] = {"width": 40, "height": 20}


@pytest.mark.parametrize(
    ("given", "box"),
    [
        ({"x": 30, "y": 50}, (30, 50, 40, 20)),
        ({"x": -10, "y": 170}, (0, 170, 30, 10)),
        ({"x": 10, "y": 10, "scale": 2}, (10, 10, 80, 40)),
        ({"x": 50, "y": 50, "rotation": 90}, (60, 40, 20, 40)),
        ({"x": 50, "y": 50, "rotation": 90, "scale": 2}, (70, 30, 40, 80)),
        ({"x": 10, "y": 10, "rotation": -180}, (10, 10, 40, 20)),
        ({"x": None, "y": None}, (0, 0, 40, 20)),
        ({"width": None, "height": None}, (0, 0, 320, 180)),
    ],
)
async def test_a_layer_is_where_its_geometry_says(chromium: str, given: dict[str, Any], box: Box) -> None:
    async with compositor(chromium, state(scene(square("a", "red", **{**SIZE, **given})))) as page:
        assert same_box((await page.picture()).box(RED), box)


async def test_opacity_mixes_with_what_is_below(chromium: str) -> None:
    layers = [square("below", "blue"), square("over", "red", opacity=0.5)]
    async with compositor(chromium, state(scene(*layers))) as page:
        assert (await page.picture()).has(100, 100, (128, 0, 128))


async def test_the_last_child_is_on_top_and_order_changes_live(chromium: str) -> None:
    layers = [square("a", "red"), square("b", "blue")]
    async with compositor(chromium, state(scene(*layers))) as page:
        assert (await page.picture()).has(5, 5, BLUE)
        assert (await page.drawn(2, layer("root", "root", children=["b", "a"]))).has(5, 5, RED)


async def test_children_are_placed_scaled_and_turned_with_their_parent(chromium: str) -> None:
    group = layer("group", "group", x=100, y=20, width=80, height=40, scale=0.5, rotation=90, children=["a"])
    async with compositor(chromium, state(scene(group, square("a", "red", width=20, height=10)))) as page:
        # Turned about (120, 30), the centre of its 40 × 20 pixels: the corner goes to the top right
        assert same_box((await page.picture()).box(RED), (125, 10, 5, 10))


async def test_a_hidden_layer_is_not_drawn_nor_what_is_in_it(chromium: str) -> None:
    group = layer("group", "group", children=["a"], hidden=True)
    inner = square("a", "red", **SIZE)
    async with compositor(chromium, state(scene(group, inner))) as page:
        assert (await page.picture()).box(RED) is None
        assert same_box((await page.drawn(2, {**group, "hidden": False})).box(RED), (0, 0, 40, 20))


async def test_a_detached_layer_is_not_drawn_until_it_is_attached(chromium: str) -> None:
    layout = scene(square("a", "red", **SIZE))
    layout["layers"].append(square("loose", "blue", x=100, **SIZE))
    async with compositor(chromium, state(layout)) as page:
        assert (await page.picture()).box(BLUE) is None
        attached = await page.drawn(2, layer("root", "root", children=["a", "loose"]))
        assert same_box(attached.box(BLUE), (100, 0, 40, 20))
        gone = await page.drawn(3, layer("root", "root", children=["loose"]), remove=("a",))
        assert gone.box(RED) is None


async def test_a_layer_moves_to_another_parent(chromium: str) -> None:
    group = layer("group", "group", x=100, y=100)
    async with compositor(chromium, state(scene(group, square("a", "red", **SIZE)))) as page:
        root = layer("root", "root", children=["group"])
        moved = await page.drawn(2, root, {**group, "children": ["a"]})
        assert same_box(moved.box(RED), (100, 100, 40, 20))


async def test_a_type_that_is_unknown_draws_nothing_and_another_type_takes_its_place(chromium: str) -> None:
    later = layer("a", "hologram", width=40, height=40, children=["b"], data={"backgroundColor": "red"})
    async with compositor(chromium, state(scene(later, square("b", "blue", **SIZE)))) as page:
        picture = await page.picture()
        assert picture.box(RED) is None
        assert same_box(picture.box(BLUE), (0, 0, 40, 20))
        picture = await page.drawn(2, {**later, "type": "square"})
        assert same_box(picture.box(BLUE), (0, 0, 40, 20))
        assert picture.has(5, 35, RED)


async def test_a_layout_of_another_size_is_fitted_into_the_canvas(chromium: str) -> None:
    layout = scene(square("a", "red"), width=1280, height=1280)
    async with compositor(chromium, state(layout)) as page:
        assert same_box((await page.picture()).box(RED), (70, 0, 180, 180))


async def test_a_sceneless_layout_is_drawn_from_its_own_root(chromium: str) -> None:
    layers = [square("a", "red", **SIZE), layer("mine", "root", x=20, y=30, children=["a"])]
    layout = {**scene(), "type": "SCENELESS", "layers": layers}
    async with compositor(chromium, state(layout)) as page:
        assert same_box((await page.picture()).box(RED), (20, 30, 40, 20))


async def test_without_a_selected_layout_the_picture_is_black_and_the_page_ready(chromium: str) -> None:
    async with compositor(chromium, state(selectedLayoutId=None)) as page:
        assert (await page.picture()).box(BLACK) == (0, 0, 320, 180)


async def test_cycles_thousands_of_layers_and_nonsense_draw_what_can_be_drawn(chromium: str) -> None:
    many = [square(f"many-{index}", "blue", x=index % 320, y=170, width=1, height=1) for index in range(1000)]
    circle = [layer("p", "group", children=["q"]), layer("q", "group", children=["p", "q", "root"])]
    odd = square("odd", "green", **SIZE) | {"x": 1e308, "rotation": "NaN", "opacity": 9, "children": None}
    layout = scene(*many, square("a", "red", **SIZE), odd)
    layout["layers"] += [*circle, {"id": None}, 7, layout["layers"][1]]
    layout["layers"][0]["children"].append("p")
    async with compositor(chromium, state(layout)) as page:
        picture = await page.picture()
        assert same_box(picture.box(RED), (0, 0, 40, 20))
        assert same_box(picture.box(BLUE), (0, 170, 320, 1))
        assert picture.box(GREEN) is None
        assert not [line for line in page.tab.console if line.startswith("exception")]
