"""The agent's one page is told its scene over a WebSocket, and what it says comes to the status."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from pathlib import Path

import aiohttp
import pytest
from tests.support.scenes import OURS, ROOT, Page, layer, layout, scene
from tests.support.small_program import small_program
from tests.support.waiting import until

from onair_crds.contract.pod import COMPOSITOR_URL
from onair_crds.contract.program import Program
from onair_crds.contract.scene import ChangeAnimation, ProgramScene
from onair_encoder.loopback import serve
from onair_encoder.scene import feed as feed_module
from onair_encoder.scene import page_socket
from onair_encoder.scene.feed import SceneFeed
from onair_encoder.scene.page_socket import MAX_WAITING, origin_of
from onair_encoder.scene.scene import LayersEvent


class Fed:
    """A feed that is served, and how often it has said that something changed."""

    def __init__(self, folder: Path) -> None:
        self.changes = 0
        self.feed = SceneFeed(folder / "scene.json", folder / "compositor", self._changed)
        self.address = ""

    def _changed(self) -> None:
        self.changes += 1

    async def until(self, condition: Callable[[], object]) -> None:
        await until(condition)


@pytest.fixture
async def fed(tmp_path: Path) -> AsyncIterator[Fed]:
    fed = Fed(tmp_path)
    runner = await serve("127.0.0.1", 0, fed.feed.add_to)
    fed.address = f"http://127.0.0.1:{runner.addresses[0][1]}"
    yield fed
    await runner.cleanup()
    fed.feed.close()


def program(wanted: ProgramScene | None = None, **fields: object) -> Program:
    return small_program(composition_url=COMPOSITOR_URL, scene=wanted, **fields)


def moved(version: int, x: int = 100) -> LayersEvent:
    return LayersEvent("stage", version, upsert=(layer("left", x=x),))


async def test_a_page_is_told_all_at_first_and_then_what_changes(fed: Fed) -> None:
    fed.feed.want(program(scene(layout(10))))
    async with Page.connected(fed.address) as page:
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
        fed.feed.want(program(scene(layout(11, ROOT, layer("left", x=100)), debug=True)))
        assert (await page.told())["debug"] is True


async def test_a_page_that_connects_twice_is_told_the_same_twice(fed: Fed) -> None:
    fed.feed.want(program(scene(layout(10))))
    async with Page.connected(fed.address) as first, Page.connected(fed.address) as second:
        assert await first.told() == await second.told()
        fed.feed.apply(moved(11))
        assert await first.told() == await second.told()


async def test_a_page_that_takes_nothing_is_sent_the_state_in_place_of_what_waits(fed: Fed) -> None:
    fed.feed.want(program(scene(layout(10))))
    async with Page.connected(fed.address) as page:
        await page.told()
        for number in range(2 * MAX_WAITING):
            fed.feed.apply(moved(11 + number, x=number))
        told = [await page.told()]
        while told[-1]["type"] == "layers":
            told.append(await page.told())
        assert len(told) <= MAX_WAITING + 1
        assert told[-1]["layouts"][0]["layers"][1]["x"] == 2 * MAX_WAITING - 1


@pytest.mark.parametrize("origin", ["null", "https://evil.example", "http://127.0.0.1:9999", ""])
async def test_only_the_page_itself_is_told_the_scene(fed: Fed, origin: str) -> None:
    fed.feed.want(program(scene(layout(10))))
    with pytest.raises(aiohttp.WSServerHandshakeError) as refused:
        async with Page.connected(fed.address, origin):
            pass
    assert refused.value.status == 403


async def test_a_page_of_the_callers_own_is_told_it_too(fed: Fed) -> None:
    url = "https://studio.example:443/renderer?x=1"
    wanted = program(scene(layout(10))).model_copy(update={"composition_url": url})
    fed.feed.want(wanted)
    for origin in ("https://studio.example", OURS):
        async with Page.connected(fed.address, origin) as page:
            assert (await page.told())["type"] == "state"


@pytest.mark.parametrize(
    ("url", "origin"),
    [
        ("https://A.example/x?y", "https://a.example"),
        ("http://[::1]:8080/", "http://[::1]:8080"),
        ("data:text/html,x", None),
    ],
)
def test_origins_are_written_as_browsers_do(url: str, origin: str | None) -> None:
    assert origin_of(url) == origin


async def test_a_page_is_ready_while_one_that_said_so_is_connected(fed: Fed) -> None:
    fed.feed.want(program(scene(layout(10))))
    assert not fed.feed.ready
    async with Page.connected(fed.address) as page:
        await page.told()
        assert not fed.feed.ready
        await page.say("ready")
        await fed.until(lambda: fed.feed.ready)
        before = fed.changes
    await fed.until(lambda: not fed.feed.ready)
    assert fed.changes > before


async def test_failures_are_kept_until_the_next_page_speaks(fed: Fed) -> None:
    fed.feed.want(program(scene(layout(10))))
    failed = [{"layoutId": "stage", "layerId": "left", "reason": "HTTP 404"}]
    async with Page.connected(fed.address) as page:
        await page.say("failed", layers=failed)
        await page.say("levels", layers={"left": -12.5})
        await fed.until(lambda: fed.feed.levels)
    [told] = fed.feed.failed_layers
    assert (told.layout, told.layer, told.reason, told.on_air) == ("stage", "left", "HTTP 404", True)
    await fed.until(lambda: not fed.feed.levels)
    async with Page.connected(fed.address) as page:
        await page.say("ready")
        await fed.until(lambda: not fed.feed.failed_layers)


async def test_failures_that_come_and_go_are_told_once_an_interval(
    fed: Fed, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(page_socket, "FAILURES_INTERVAL_S", 0.2)
    fed.feed.want(program(scene(layout(10))))
    failed = [{"layoutId": "stage", "layerId": "left", "reason": "HTTP 404"}]
    async with Page.connected(fed.address) as page:
        for _ in range(50):
            await page.say("failed", layers=failed)
            await page.say("failed", layers=[])
        await page.say("failed", layers=failed * 2)
        await fed.until(lambda: len(fed.feed.failed_layers) == 2)
    assert fed.changes <= 3


async def test_what_is_no_message_changes_nothing(fed: Fed) -> None:
    fed.feed.want(program(scene(layout(10))))
    async with Page.connected(fed.address) as page:
        await page.told()
        for text in ("", "{", "[]", '{"type":"other"}', '{"type":"failed","layers":[{}]}'):
            await page.socket.send_str(text)
        await page.say("ready")
        await fed.until(lambda: fed.feed.ready)
        assert fed.feed.failed_layers == []


async def test_layers_of_a_programme_wait_for_their_events_while_those_flow(
    fed: Fed, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feed_module, "HOLD_S", 0.05)
    fed.feed.want(program(scene(layout(10))))
    fed.feed.events_flow = lambda: True
    async with Page.connected(fed.address) as page:
        await page.told()
        fed.feed.want(program(scene(layout(11, ROOT, layer("left", x=5)))))
        fed.feed.apply(moved(11, x=5))
        assert (await page.told())["upsert"][0]["x"] == 5
        fed.feed.want(program(scene(layout(12, ROOT, layer("left", x=6)))))
        assert (await page.told())["upsert"][0]["x"] == 6, "no event came"


async def test_each_change_has_a_time_of_its_own_to_come_by_its_event(
    fed: Fed, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The event of the second is there only when the time of the first is up."""
    monkeypatch.setattr(feed_module, "HOLD_S", 0.2)
    fed.feed.want(program(scene(layout(10))))
    fed.feed.events_flow = lambda: True
    async with Page.connected(fed.address) as page:
        await page.told()
        fed.feed.want(program(scene(layout(11, ROOT, layer("left", x=5)))))
        time_is_up = asyncio.Event()
        asyncio.get_running_loop().call_later(feed_module.HOLD_S, time_is_up.set)
        fed.feed.apply(moved(11, x=5))
        assert (await page.told())["upsert"][0]["x"] == 5
        monkeypatch.setattr(feed_module, "HOLD_S", 60)
        fed.feed.want(program(scene(layout(12, ROOT, layer("left", x=6)))))
        await time_is_up.wait()
        animation = ChangeAnimation(mode="PARALLEL", layers=[])
        fed.feed.apply(replace(moved(12, x=6), animation=animation))
        change = await page.told()
        assert (change["upsert"][0]["x"], change["animation"]["mode"]) == (6, "PARALLEL")


async def test_a_change_of_a_layout_that_has_just_been_made_moves_it(fed: Fed) -> None:
    """Its event is there before the programme that has the layout."""
    fed.feed.want(program(scene(layout(10))))
    fed.feed.events_flow = lambda: True
    async with Page.connected(fed.address) as page:
        await page.told()
        change = LayersEvent("new", 12, (layer("left", x=6),), animation=ChangeAnimation(layers=[]))
        fed.feed.apply(change)
        fed.feed.want(program(scene(layout(11, id="new"), layout(10), selected_layout_id="new")))
        state = await page.told()
        assert (state["layouts"][0]["id"], state["layouts"][0]["layers"][1]["x"]) == ("new", None)
        told = await page.told()
        assert (told["layoutId"], told["upsert"][0]["x"]) == ("new", 6)
        assert told["animation"]["mode"] == "PARALLEL"


async def test_what_no_event_told_takes_no_newer_change_along(
    fed: Fed, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A version without an event holds the layers up; the next one's event comes when that time is up."""
    monkeypatch.setattr(feed_module, "HOLD_S", 0.1)
    fed.feed.want(program(scene(layout(10))))
    fed.feed.events_flow = lambda: True
    async with Page.connected(fed.address) as page:
        await page.told()
        fed.feed.want(program(scene(layout(11, ROOT, layer("left", x=5)))))
        monkeypatch.setattr(feed_module, "HOLD_S", 60)
        fed.feed.want(program(scene(layout(12, ROOT, layer("left", x=6)))))
        change = await page.told()
        assert (change["upsert"][0]["x"], change["animation"]) == (5, None)
        fed.feed.apply(replace(moved(12, x=6), animation=ChangeAnimation(layers=[])))
        change = await page.told()
        assert (change["upsert"][0]["x"], change["animation"]["mode"]) == (6, "PARALLEL")


async def test_a_restarted_agent_goes_on_with_what_events_told(fed: Fed, tmp_path: Path) -> None:
    fed.feed.want(program(scene(layout(10))))
    fed.feed.apply(moved(12))
    fed.feed.close()
    restarted = Fed(tmp_path)
    runner = await serve("127.0.0.1", 0, restarted.feed.add_to)
    restarted.feed.want(program(scene(layout(10))))
    async with Page.connected(f"http://127.0.0.1:{runner.addresses[0][1]}") as page:
        assert (await page.told())["layouts"][0]["layers"][1]["x"] == 100
    await runner.cleanup()


async def test_an_operator_of_before_says_nothing_of_scenes(fed: Fed) -> None:
    fed.feed.want(program())
    async with Page.connected(fed.address) as page:
        state = await page.told()
        assert (state["selectedLayoutId"], state["layouts"]) == (None, [])


async def test_the_files_of_the_page_are_served_and_no_others(fed: Fed, tmp_path: Path) -> None:
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
