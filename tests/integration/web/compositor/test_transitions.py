"""Transitions, by their pictures at five points in time."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from aiohttp import web
from tests.support.scene.compositor import Compositor, compositor
from tests.support.scene.fake_agent import layer, scene, square, state
from tests.support.scene.picture import BLUE, GREEN, RED, Colour, same_box

pytestmark = pytest.mark.media


def states(transition: dict[str, Any], **given: object) -> tuple[dict[str, Any], dict[str, Any]]:
    """Red is on air; then blue is selected, which comes by this transition."""
    coming = [{"fromLayoutIds": [], **transition}] if transition else []
    layouts = [scene(square("a", "red")), scene(square("b", "blue"), id="two", transitions=coming)]
    before = state(*layouts, **given)
    return before, {**before, "selectedLayoutId": "two"}


async def switch(page: Compositor, after: dict[str, Any]) -> None:
    """Selects, and holds the transition at its beginning."""
    await page.agent.send(after)
    await page.tab.until("document.getAnimations().length > 0")
    await page.seek(0)


@pytest.mark.parametrize(
    ("transition", "colours"),
    [
        ({"crossfade": {"durationMs": 5000}}, [RED, (191, 0, 64), (128, 0, 128), (64, 0, 191), BLUE]),
        (
            {"fadeToColor": {"durationMs": 5000, "backgroundColor": "green"}},
            [RED, (128, 64, 0), GREEN, (0, 64, 128), BLUE],
        ),
    ],
    ids=["crossfade", "fadeToColor"],
)
async def test_colours_on_the_way(chromium: str, transition: dict[str, Any], colours: list[Colour]) -> None:
    before, after = states(transition)
    async with compositor(chromium, before) as page:
        await switch(page, after)
        for part, colour in zip((0, 0.25, 0.5, 0.75), colours, strict=False):
            picture = await page.seek(part)
            assert picture.has(160, 90, colour), (part, picture.at(160, 90))
        await page.go_on()
        await page.tab.until("document.querySelectorAll('.scene.shown').length === 1")
        assert (await page.picture()).has(160, 90, colours[-1])


@pytest.mark.parametrize(
    ("named", "other", "half"), [("one", "three", GREEN), ("three", "one", RED), ("three", "four", RED)]
)
async def test_a_layout_comes_by_the_transition_that_names_the_one_before(
    chromium: str, named: str, other: str, half: Colour
) -> None:
    """Only where none does, by one for all; through red, which is what was there, or through green."""
    by = {
        "through-green": ([named], "green"),
        "through-red": ([other] if other == "one" else [], "red"),
        "through-blue": (["four"], "blue"),
    }
    coming = [
        {"fromLayoutIds": ids, "fadeToColor": {"durationMs": 5000, "backgroundColor": colour}}
        for ids, colour in by.values()
    ]
    before = state(scene(square("a", "red")), scene(square("b", "blue"), id="two", transitions=coming))
    async with compositor(chromium, before) as page:
        await switch(page, {**before, "selectedLayoutId": "two"})
        picture = await page.seek(0.5)
        assert picture.has(160, 90, half), picture.at(160, 90)


async def test_several_transitions_for_all_are_chosen_from_at_random(chromium: str) -> None:
    coming = [
        {"fromLayoutIds": [], "fadeToColor": {"durationMs": 5000, "backgroundColor": colour}}
        for colour in ("green", "yellow", "white")
    ]
    before = state(scene(square("a", "red")), scene(square("b", "blue"), id="two", transitions=coming))
    seen = set()
    async with compositor(chromium, before) as page:
        for _ in range(30):
            await switch(page, {**before, "selectedLayoutId": "two"})
            seen.add((await page.seek(0.5)).at(160, 90))
            await page.go_on()
            await page.agent.send(before)
            await page.tab.until("document.querySelector('.scene.shown').dataset.layout === 'one'")
            if len(seen) > 1:
                return
    raise AssertionError(f"thirty times {seen}")


async def test_a_selected_layout_that_is_not_there_yet_leaves_on_air_what_is_and_comes_by_its_transition(
    chromium: str,
) -> None:
    before, after = states({"crossfade": {"durationMs": 5000}})
    async with compositor(chromium, before) as page:
        await page.agent.send({**before, "selectedLayoutId": "two", "layouts": after["layouts"][:1]})
        await page.agent.send({**before, "selectedLayoutId": "none", "debug": True})
        await page.tab.until("document.body.innerText.includes('layout none')")
        assert (await page.picture()).has(160, 170, RED)
        await switch(page, after)
        picture = await page.seek(0.5)
        assert picture.has(160, 90, (128, 0, 128)), picture.at(160, 90)


@pytest.mark.parametrize("selected", ["one", "two"])
async def test_what_is_on_air_stays_where_its_layout_is_gone_and_is_drawn_on_once_it_is_back(
    chromium: str, selected: str
) -> None:
    """Deleted, or not carried; where nothing is selected, nothing is drawn."""
    before, _ = states({})
    async with compositor(chromium, before) as page:
        gone = {**before, "selectedLayoutId": selected, "layouts": [], "debug": True}
        await page.agent.send(gone)
        await page.tab.until(f"document.body.innerText.includes('layout {selected}')")
        await page.tab.until("document.querySelectorAll('.scene').length === 1")
        assert (await page.picture()).has(160, 170, RED)
        back = scene(square("a", "green"))
        await page.agent.send({**gone, "layouts": [back]})
        await page.shows(GREEN, 4, 160, 170)
        await page.agent.send({**gone, "selectedLayoutId": None, "layouts": [back]})
        await page.tab.until("document.querySelectorAll('.scene.shown').length === 0")


@pytest.mark.parametrize("remaining", [["one"], []])
async def test_a_layout_that_is_deleted_while_a_switch_waits_for_it_does_not_come(
    chromium: str, remaining: list[str]
) -> None:
    async def hang(request: web.Request) -> None:
        await asyncio.Event().wait()

    before = state(scene(square("a", "red")))
    async with compositor(chromium, before, {"/never.png": hang}) as page:
        never = layer("b", "image", data={"media": {"url": f"{page.agent.url}/never.png"}})
        coming = scene(square("c", "blue"), never, id="two")
        selected = {**before, "selectedLayoutId": "two", "debug": True}
        await page.agent.send({**selected, "layouts": [*before["layouts"], coming]})
        left = [each for each in before["layouts"] if each["id"] in remaining]
        await page.agent.send({**selected, "layouts": left})
        await page.tab.until("document.body.innerText.includes('layout two')")
        # Longer than a switch waits
        at_ms = await page.tab.evaluate("performance.now()")
        await page.tab.until(f"performance.now() > {at_ms} + 1000")
        assert await page.tab.evaluate("document.querySelectorAll('.scene').length") == 1
        assert (await page.picture()).has(160, 170, RED)


async def test_a_page_with_nothing_on_air_yet_begins_with_the_selected_layout_once_it_is_there(
    chromium: str,
) -> None:
    first = state(selectedLayoutId="one")
    async with compositor(chromium, first) as page:
        assert await page.tab.evaluate("document.querySelectorAll('.scene').length") == 0
        await page.agent.send({**first, "layouts": [scene(square("a", "red"))]})
        await page.tab.until("document.querySelectorAll('.scene.shown').length === 1")
        assert (await page.picture()).box(RED) == (0, 0, 320, 180)


MOVES = {"LEFT": (-1, 0), "RIGHT": (1, 0), "UP": (0, -1), "DOWN": (0, 1)}


@pytest.mark.parametrize("type_", ["COMBINED", "SOURCE", "DESTINATION"])
@pytest.mark.parametrize("direction", MOVES)
async def test_swipes(chromium: str, direction: str, type_: str) -> None:
    swipe = {"durationMs": 5000, "direction": f"TRANSITION_DIRECTION_{direction}"}
    before, after = states({"swipe": {**swipe, "combinedAnimation": f"TRANSITION_SWIPE_TYPE_{type_}"}})
    dx, dy = MOVES[direction]
    async with compositor(chromium, before) as page:
        await switch(page, after)
        for part in (0, 0.25, 0.5, 0.75):
            picture = await page.seek(part)
            way_x, way_y = round(part * 320), round(part * 180)
            # What is seen of the old one is what is not yet covered, or left
            width, height = (320 - way_x, 180) if dx else (320, 180 - way_y)
            forward = (dx < 0 or dy < 0) == (type_ != "DESTINATION")
            left = 0 if forward or not dx else 320 - width
            top = 0 if forward or not dy else 180 - height
            if type_ == "DESTINATION":
                left = 0 if dx < 0 or not dx else way_x
                top = 0 if dy < 0 or not dy else way_y
            assert same_box(picture.box(RED), (left, top, width, height)), (part, picture.box(RED))
        await page.go_on()
        await page.tab.until("document.querySelectorAll('.scene.shown').length === 1")
        assert (await page.picture()).box(BLUE) == (0, 0, 320, 180)


WATCHED = """
window.seen = [];
const watched = document.querySelector('[data-layout=%s]');
(function look() {
    const {visibility, opacity} = getComputedStyle(watched);
    const still = visibility === 'hidden' ? 'hidden' : +opacity < 0.01 ? 'faint' : 'shown';
    window.seen.push(watched.getAnimations().length ? 'moving' : still);
    requestAnimationFrame(look);
})();
"""
"""How a layout is seen, frame by frame."""


async def test_a_layout_is_painted_before_it_moves(chromium: str) -> None:
    before, after = states({"swipe": {"durationMs": 5000}})
    async with compositor(chromium, before) as page:
        await page.tab.until("document.querySelector('[data-layout=two]')")
        await page.tab.evaluate(WATCHED % "two")
        await page.agent.send(after)
        await page.tab.until("window.seen.includes('moving')")
        seen = await page.tab.evaluate("window.seen")
        assert seen.count("faint") >= 2, seen
        assert seen[seen.index("faint") :].index("moving") == seen.count("faint"), seen
        assert "shown" not in seen, seen


async def test_a_layout_on_air_that_is_selected_again_before_another_came_stays(chromium: str) -> None:
    before, after = states({"swipe": {"durationMs": 5000}})
    before["layouts"][0]["transitions"] = [{"fromLayoutIds": [], "crossfade": {"durationMs": 5000}}]
    async with compositor(chromium, before) as page:
        await page.tab.until("document.querySelector('[data-layout=two]')")
        await page.tab.evaluate(WATCHED % "one")
        await asyncio.gather(page.agent.send(after), page.agent.send({**before, "debug": True}))
        frames = await page.tab.until("document.body.innerText.includes('layout one') && window.seen.length")
        await page.tab.until(f"window.seen.length > {frames} + 20")
        assert await page.tab.evaluate("[...new Set(window.seen)]") == ["shown"]


async def test_a_cut_is_a_cut(chromium: str) -> None:
    before, after = states({})
    async with compositor(chromium, before) as page:
        await page.agent.send(after)
        await page.tab.until("document.querySelector('.scene.shown')?.dataset.layout === 'two'")
        assert (await page.picture()).box(BLUE) == (0, 0, 320, 180)


async def test_a_selection_in_the_middle_of_a_transition_ends_it_and_goes_on_from_there(
    chromium: str,
) -> None:
    before, after = states({"crossfade": {"durationMs": 5000}})
    async with compositor(chromium, before) as page:
        await switch(page, after)
        await page.seek(0.5)
        await page.agent.send(before)
        await page.tab.until("document.querySelectorAll('.scene.shown').length === 1")
        assert (await page.picture()).box(RED) == (0, 0, 320, 180)


async def test_a_reconnect_in_the_middle_of_a_transition_changes_nothing(chromium: str) -> None:
    before, after = states({"crossfade": {"durationMs": 5000}})
    async with compositor(chromium, before) as page:
        await switch(page, after)
        await page.seek(0.5)
        page.agent.state = after
        await page.agent.reconnected()
        picture = await page.picture()
        assert picture.has(160, 90, (128, 0, 128))
        assert await page.tab.evaluate("document.getAnimations().length") == 2


async def test_the_selected_layout_is_deleted_in_the_middle_of_a_transition(chromium: str) -> None:
    before, after = states({"crossfade": {"durationMs": 5000}})
    async with compositor(chromium, before) as page:
        await switch(page, after)
        await page.agent.send({**before, "layouts": before["layouts"][:1]})
        await page.tab.until("document.querySelector('.scene.shown')?.dataset.layout === 'one'")
        await page.tab.until("document.querySelectorAll('.scene').length === 1")
        assert (await page.picture()).box(RED) == (0, 0, 320, 180)


COUNT_GAPS = """
window.gaps = 0;
const outgoing = document.querySelector('[data-layout=one]');
(function look() {
    if (document.getAnimations().length && !outgoing.classList.contains('shown')) window.gaps++;
    requestAnimationFrame(look);
})();
"""
"""Frames of a transition without the layout that it leads away from."""


@pytest.mark.parametrize("selected", ["two", "one"])
async def test_a_layout_that_gets_another_size_on_its_way_off_stays_until_it_has_gone(
    chromium: str, selected: str
) -> None:
    """Or until it has been switched back to, for which its new size is waited for."""

    async def hang(request: web.Request) -> None:
        await asyncio.Event().wait()

    before, after = states({"crossfade": {"durationMs": 5000}})
    async with compositor(chromium, before, {"/never.png": hang}) as page:
        await switch(page, after)
        await page.seek(0.5)
        never = layer("b", "image", data={"media": {"url": f"{page.agent.url}/never.png"}})
        smaller = scene(square("a", "red"), never, version=2, width=160, height=90)
        layouts = [smaller, after["layouts"][1]]
        await page.tab.evaluate(COUNT_GAPS)
        await page.agent.send({**after, "selectedLayoutId": selected, "layouts": layouts, "debug": True})
        await page.tab.until(f"document.body.innerText.includes('layout {selected}')")
        if selected == "two":
            assert (await page.picture()).has(160, 170, (128, 0, 128))
            await page.go_on()
        drawn = "document.querySelector('.scene[data-layout=one] > .layout')?.style.width"
        await page.tab.until(f"{drawn} === '160px'")
        await page.tab.until(f"document.querySelector('.scene.shown').dataset.layout === '{selected}'")
        await page.shows(BLUE if selected == "two" else RED, 4, 160, 170)
        assert await page.tab.evaluate("window.gaps") == 0


async def test_changes_of_layers_go_on_during_a_transition(chromium: str) -> None:
    before, after = states({"swipe": {"durationMs": 5000}})
    async with compositor(chromium, before) as page:
        await switch(page, after)
        await page.change(2, square("a", "green"))
        assert same_box((await page.seek(0.5)).box(GREEN), (0, 0, 160, 180))


async def test_layouts_that_the_agent_names_first_are_loaded_ahead_and_no_more_than_eight(
    chromium: str,
) -> None:
    layouts = [scene(square("a", "red"), id=f"layout-{number}") for number in range(20)]
    async with compositor(chromium, state(*layouts)) as page:
        loaded = "[...document.querySelectorAll('.scene')].map(each => each.dataset.layout).sort()"
        await page.tab.until(f"{loaded}.length > 1")
        assert await page.tab.evaluate(loaded) == [f"layout-{number}" for number in range(9)]
        await page.agent.send(state(*layouts, selectedLayoutId="layout-15"))
        await page.tab.until("document.querySelector('.scene.shown')?.dataset.layout === 'layout-15'")
        wanted = sorted(["layout-15", *(f"layout-{number}" for number in range(8))])
        await page.tab.until(f"{loaded}.join() === '{','.join(wanted)}'")
