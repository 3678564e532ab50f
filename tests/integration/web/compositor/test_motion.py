"""Animations: where layers are on the way, and what is interrupted."""

from __future__ import annotations

from typing import Any

import pytest
from tests.support.scene import media
from tests.support.scene.compositor import Compositor, compositor
from tests.support.scene.fake_agent import layer, scene, square, state
from tests.support.scene.picture import RED, same_box
from tests.support.waiting import until

pytestmark = pytest.mark.media

SIZE: dict[str, Any] = {"width": 40, "height": 20}
TWO_FRAMES = "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"
SECOND: dict[str, Any] = {"properties": ["*"], "durationMs": 1000, "delayMs": 0, "easingMode": "linear"}


def animation(*layers: tuple[str, list[dict[str, Any]]], mode: str = "PARALLEL") -> dict[str, Any]:
    return {"mode": mode, "layers": [{"id": id_, "requestAnimation": given} for id_, given in layers]}


async def animations(page: Compositor) -> int:
    return int(await page.tab.evaluate("document.getAnimations().length"))


@pytest.mark.parametrize(
    ("given", "half"),
    [
        ({"x": 200}, (100, 0, 40, 20)),
        ({"y": 100}, (0, 50, 40, 20)),
        ({"width": 140}, (0, 0, 90, 20)),
        ({"height": 120}, (0, 0, 40, 70)),
        ({"scale": 3}, (0, 0, 80, 40)),
        ({"x": 100, "y": 100, "rotation": 180}, (60, 40, 20, 40)),
        ({"width": None, "height": None}, (0, 0, 180, 100)),
    ],
)
async def test_a_property_is_half_way_at_half_the_time_and_there_at_the_end(
    chromium: str, given: dict[str, Any], half: tuple[int, int, int, int]
) -> None:
    async with compositor(chromium, state(scene(square("a", "red", **SIZE)))) as page:
        after = square("a", "red", **{**SIZE, **given})
        await page.change(2, after, animation=animation(("a", [SECOND])))
        assert same_box((await page.seek(0.5)).box(RED), half)
        await page.go_on()
        async with compositor(chromium, state(scene(after))) as still:
            wanted = (await still.picture()).box(RED)
        assert wanted is not None
        assert same_box((await page.picture()).box(RED), wanted)
        assert await animations(page) == 0


KEYFRAMES = """(() => {
    const given = ['offset', 'computedOffset', 'easing', 'composite'];
    const names = ({effect}) => effect.getKeyframes().flatMap(frame => Object.keys(frame));
    const properties = each => names(each).filter(name => !given.includes(name));
    return Object.fromEntries(document.getAnimations().map(each => [each.id, properties(each)]));
})()"""


async def test_what_moves_without_a_change_of_size_is_left_to_the_browsers_compositor(chromium: str) -> None:
    """Of other properties than these each frame is laid out and painted on the page's thread."""
    given = {"x": 100, "y": 50, "scale": 2, "rotation": 90, "opacity": 0.5}
    async with compositor(chromium, state(scene(square("a", "red", **SIZE)))) as page:
        after = square("a", "red", **SIZE, **given)
        await page.change(2, after, animation=animation(("a", [{**SECOND, "durationMs": 20_000}])))
        properties = await page.tab.evaluate(KEYFRAMES)
        assert properties.keys() == given.keys()
        for channel, names in properties.items():
            assert names, channel
            assert set(names) <= {"translate", "scale", "rotate", "transform", "opacity"}, (channel, names)


async def test_opacity_is_half_way_at_half_the_time(chromium: str) -> None:
    async with compositor(chromium, state(scene(square("a", "red")))) as page:
        await page.change(2, square("a", "red", opacity=0), animation=animation(("a", [SECOND])))
        assert (await page.seek(0.5)).has(9, 9, (128, 0, 0))


async def test_each_property_has_its_own_time_and_the_rest_changes_at_once(chromium: str) -> None:
    async with compositor(chromium, state(scene(square("a", "red", **SIZE)))) as page:
        x, y = {**SECOND, "properties": ["x"]}, {**SECOND, "properties": ["y"], "delayMs": 1000}
        after = square("a", "red", x=100, y=100, width=60, height=20)
        await page.change(2, after, animation=animation(("a", [x, y])))
        # x ends after one second; y is half way after one and a half
        assert same_box((await page.seek(0.75)).box(RED), (75, 50, 60, 20))


async def test_easing_is_as_css_says_and_what_is_no_easing_is_linear(chromium: str) -> None:
    for easing, x in (("steps(2, start)", 50), ("no easing", 25)):
        async with compositor(chromium, state(scene(square("a", "red", **SIZE)))) as page:
            moved = {**SECOND, "easingMode": easing}
            await page.change(2, square("a", "red", x=100, **SIZE), animation=animation(("a", [moved])))
            assert same_box((await page.seek(0.25)).box(RED), (x, 0, 40, 20))


async def test_what_moves_already_goes_on_from_where_it_is(chromium: str) -> None:
    async with compositor(chromium, state(scene(square("a", "red", **SIZE)))) as page:
        await page.change(2, square("a", "red", x=200, **SIZE), animation=animation(("a", [SECOND])))
        assert same_box((await page.seek(0.5)).box(RED), (100, 0, 40, 20))
        turned = square("a", "red", x=0, y=100, **SIZE)
        await page.change(3, turned, animation=animation(("a", [SECOND])))
        assert same_box((await page.seek(0)).box(RED), (100, 0, 40, 20))
        assert same_box((await page.seek(0.5)).box(RED), (50, 50, 40, 20))


async def test_a_change_without_animation_ends_what_moves_and_leaves_other_properties_moving(
    chromium: str,
) -> None:
    async with compositor(chromium, state(scene(square("a", "red", **SIZE)))) as page:
        moved = square("a", "red", x=200, y=100, **SIZE)
        await page.change(2, moved, animation=animation(("a", [SECOND])))
        await page.change(3, {**moved, "x": 60})
        assert same_box((await page.seek(0.5)).box(RED), (60, 50, 40, 20))


async def test_in_series_a_layer_waits_for_the_one_before(chromium: str) -> None:
    layers = [square("a", "red", **SIZE), square("b", "blue", y=100, **SIZE)]
    async with compositor(chromium, state(scene(*layers))) as page:
        batch = animation(("a", [SECOND]), ("b", [SECOND]), mode="SERIES")
        after = [{**each, "x": 100} for each in layers]
        await page.change(2, *after, animation=batch)
        await page.tab.evaluate(
            "for (const each of document.getAnimations()) { each.pause(); each.currentTime = 1500; }"
        )
        picture = await page.picture()
        assert same_box(picture.box(RED), (100, 0, 40, 20))
        assert same_box(picture.box((0, 0, 255)), (50, 100, 40, 20))


async def test_a_drag_of_thirty_updates_a_second_is_drawn_with_each_and_leaves_nothing_behind(
    chromium: str,
) -> None:
    layers = [square(f"s{index}", "blue", x=index, y=100, width=4, height=4) for index in range(100)]
    async with compositor(chromium, state(scene(square("a", "red", **SIZE), *layers))) as page:
        await page.tab.evaluate(
            "window.seen = new Set(), (function look() { seen.add(getComputedStyle("
            "document.querySelector('[data-layer=a]')).translate); requestAnimationFrame(look); })()"
        )
        short = {**SECOND, "durationMs": 33}
        for version in range(2, 62):
            await page.change(
                version, square("a", "red", x=version, **SIZE), animation=animation(("a", [short]))
            )
            await page.tab.evaluate(TWO_FRAMES)
        await page.go_on()
        assert same_box((await page.picture()).box(RED), (61, 0, 40, 20))
        assert await page.tab.evaluate("seen.size") >= 50
        assert await animations(page) == 0


COUNTING = "<script>parent.postMessage('onair:frame-based', '*')</script>"


async def test_it_moves_by_time_but_where_a_page_in_a_layer_counts_its_frames(chromium: str) -> None:
    pages = {"/page": media.page("hello"), "/counting": media.page(COUNTING)}
    async with compositor(chromium, state(scene()), pages) as page:

        def webpage(path: str) -> dict[str, Any]:
            return layer("a", "webpage", data={"url": f"http://localhost:{page.agent.port}{path}"}, **SIZE)

        async def says(*words: str) -> None:
            await until(lambda: [each for each in page.tab.console if "-based" in each] == [*words])

        await page.agent.send(state(scene(webpage("/page"))))
        await page.tab.until("document.querySelector('iframe')")
        await page.picture()
        await says("onair:time-based")
        await page.agent.send(state(scene(webpage("/counting"))))
        await says("onair:time-based", "onair:frame-based")
        await page.agent.send(state(scene(square("b", "red"))))
        await says("onair:time-based", "onair:frame-based", "onair:time-based")
