"""The agent's one page is told its scene at first and then what changes, by events and programmes."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

import aiohttp
import pytest
from tests.support.scenes import ROOT, PageConnection, layer, layout, scene, scene_program
from tests.support.served_feed import ServedFeed

from onair_crds.contract.scene import ChangeAnimation
from onair_encoder.loopback import serve
from onair_encoder.scene import feed as feed_module
from onair_encoder.scene.page_socket import MAX_WAITING
from onair_encoder.scene.scene import LayersEvent


def moved(version: int, x: int = 100) -> LayersEvent:
    return LayersEvent("stage", version, upsert=(layer("left", x=x),))


async def test_a_page_is_told_all_at_first_and_then_what_changes(fed: ServedFeed) -> None:
    fed.feed.want(scene_program(scene(layout(10))))
    async with PageConnection.connected(fed.address) as page:
        state = await page.told()
        assert state["type"] == "state"
        assert state["canvas"] == {"width": 640, "height": 360}
        assert (state["selectedLayoutId"], state["debug"], state["room"]) == ("stage", False, None)
        [stage] = state["layouts"]
        assert [each["id"] for each in stage["layers"]] == ["root", "left"]
        assert stage["layers"][1] == {
            "id": "left",
            "type": "square",
            "children": [],
            **dict.fromkeys(("x", "y", "width", "height")),
            "scale": 1,
            "rotation": 0,
            "opacity": 1,
            "hidden": False,
            "data": {},
        }
        fed.feed.apply(moved(11))
        told = await page.told()
        assert (told["type"], told["layoutId"], told["upsert"][0]["x"]) == ("layers", "stage", 100)
        assert told["version"] > stage["version"]
        fed.feed.want(scene_program(scene(layout(11, ROOT, layer("left", x=100)), debug=True)))
        assert (await page.told())["debug"] is True


async def test_a_page_that_connects_twice_is_told_the_same_twice(fed: ServedFeed) -> None:
    fed.feed.want(scene_program(scene(layout(10))))
    async with (
        PageConnection.connected(fed.address) as first,
        PageConnection.connected(fed.address) as second,
    ):
        assert await first.told() == await second.told()
        fed.feed.apply(moved(11))
        assert await first.told() == await second.told()


async def test_a_page_that_takes_nothing_is_sent_the_state_in_place_of_what_waits(fed: ServedFeed) -> None:
    fed.feed.want(scene_program(scene(layout(10))))
    async with PageConnection.connected(fed.address) as page:
        await page.told()
        for number in range(2 * MAX_WAITING):
            fed.feed.apply(moved(11 + number, x=number))
        told = [await page.told()]
        while told[-1]["type"] == "layers":
            told.append(await page.told())
        assert len(told) <= MAX_WAITING + 1
        assert told[-1]["layouts"][0]["layers"][1]["x"] == 2 * MAX_WAITING - 1


async def test_layers_of_a_programme_wait_for_their_events_while_those_flow(
    fed: ServedFeed, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feed_module, "HOLD_S", 0.05)
    fed.feed.want(scene_program(scene(layout(10))))
    fed.feed.events_flow = lambda: True
    async with PageConnection.connected(fed.address) as page:
        await page.told()
        fed.feed.want(scene_program(scene(layout(11, ROOT, layer("left", x=5)))))
        fed.feed.apply(moved(11, x=5))
        assert (await page.told())["upsert"][0]["x"] == 5
        fed.feed.want(scene_program(scene(layout(12, ROOT, layer("left", x=6)))))
        assert (await page.told())["upsert"][0]["x"] == 6, "no event came"


async def test_each_change_has_a_time_of_its_own_to_come_by_its_event(
    fed: ServedFeed, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The event of the second is there only when the time of the first is up."""
    monkeypatch.setattr(feed_module, "HOLD_S", 0.2)
    fed.feed.want(scene_program(scene(layout(10))))
    fed.feed.events_flow = lambda: True
    async with PageConnection.connected(fed.address) as page:
        await page.told()
        fed.feed.want(scene_program(scene(layout(11, ROOT, layer("left", x=5)))))
        time_is_up = asyncio.Event()
        asyncio.get_running_loop().call_later(feed_module.HOLD_S, time_is_up.set)
        fed.feed.apply(moved(11, x=5))
        assert (await page.told())["upsert"][0]["x"] == 5
        monkeypatch.setattr(feed_module, "HOLD_S", 60)
        fed.feed.want(scene_program(scene(layout(12, ROOT, layer("left", x=6)))))
        await time_is_up.wait()
        animation = ChangeAnimation(mode="PARALLEL", layers=[])
        fed.feed.apply(replace(moved(12, x=6), animation=animation))
        change = await page.told()
        assert (change["upsert"][0]["x"], change["animation"]["mode"]) == (6, "PARALLEL")


async def test_a_change_of_a_layout_that_has_just_been_made_moves_it(fed: ServedFeed) -> None:
    """Its event is there before the programme that has the layout."""
    fed.feed.want(scene_program(scene(layout(10))))
    fed.feed.events_flow = lambda: True
    async with PageConnection.connected(fed.address) as page:
        await page.told()
        change = LayersEvent("new", 12, (layer("left", x=6),), animation=ChangeAnimation(layers=[]))
        fed.feed.apply(change)
        fed.feed.want(scene_program(scene(layout(11, id="new"), layout(10), selected_layout_id="new")))
        state = await page.told()
        assert (state["layouts"][0]["id"], state["layouts"][0]["layers"][1]["x"]) == ("new", None)
        told = await page.told()
        assert (told["layoutId"], told["upsert"][0]["x"]) == ("new", 6)
        assert told["animation"]["mode"] == "PARALLEL"


async def test_what_no_event_told_takes_no_newer_change_along(
    fed: ServedFeed, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A version without an event holds the layers up; the next one's event comes when that time is up."""
    monkeypatch.setattr(feed_module, "HOLD_S", 0.1)
    fed.feed.want(scene_program(scene(layout(10))))
    fed.feed.events_flow = lambda: True
    async with PageConnection.connected(fed.address) as page:
        await page.told()
        fed.feed.want(scene_program(scene(layout(11, ROOT, layer("left", x=5)))))
        monkeypatch.setattr(feed_module, "HOLD_S", 60)
        fed.feed.want(scene_program(scene(layout(12, ROOT, layer("left", x=6)))))
        change = await page.told()
        assert (change["upsert"][0]["x"], change["animation"]) == (5, None)
        fed.feed.apply(replace(moved(12, x=6), animation=ChangeAnimation(layers=[])))
        change = await page.told()
        assert (change["upsert"][0]["x"], change["animation"]["mode"]) == (6, "PARALLEL")


async def test_a_restarted_agent_goes_on_with_what_events_told(fed: ServedFeed, tmp_path: Path) -> None:
    fed.feed.want(scene_program(scene(layout(10))))
    fed.feed.apply(moved(12))
    fed.feed.close()
    restarted = ServedFeed(tmp_path)
    runner = await serve("127.0.0.1", 0, restarted.feed.add_to)
    restarted.feed.want(scene_program(scene(layout(10))))
    async with PageConnection.connected(f"http://127.0.0.1:{runner.addresses[0][1]}") as page:
        assert (await page.told())["layouts"][0]["layers"][1]["x"] == 100
    await runner.cleanup()


async def test_an_operator_of_before_says_nothing_of_scenes(fed: ServedFeed) -> None:
    fed.feed.want(scene_program())
    async with PageConnection.connected(fed.address) as page:
        state = await page.told()
        assert (state["selectedLayoutId"], state["layouts"]) == (None, [])


async def test_the_files_of_the_page_are_served_and_no_others(fed: ServedFeed, tmp_path: Path) -> None:
    folder = tmp_path / "compositor"
    folder.mkdir()
    (folder / "index.html").write_text("<p>page")
    (folder / "page.js").write_text("1")
    (tmp_path / "secret").write_text("secret")
    (folder / "link").symlink_to(tmp_path / "secret")
    async with aiohttp.ClientSession() as session:
        for path, status, kind in (
            ("/compositor/?at=token", 200, "text/html"),
            ("/compositor/page.js", 200, "javascript"),
            ("/compositor/link", 404, None),
            ("/compositor/..%2fsecret", 404, None),
            ("/compositor/missing", 404, None),
        ):
            async with session.get(f"{fed.address}{path}") as response:
                assert response.status == status, path
                assert kind is None or response.content_type.endswith(kind)
