"""Only the agent's own page is told the scene over its WebSocket, and what it says comes to the status."""

from __future__ import annotations

import aiohttp
import pytest
from tests.support.scenes import OURS, PageConnection, layout, scene, scene_program
from tests.support.served_feed import ServedFeed

from onair_encoder.scene import page_socket
from onair_encoder.scene.page_socket import origin_of


@pytest.mark.parametrize("origin", ["null", "https://evil.example", "http://127.0.0.1:9999", ""])
async def test_only_the_page_itself_is_told_the_scene(fed: ServedFeed, origin: str) -> None:
    fed.feed.want(scene_program(scene(layout(10))))
    with pytest.raises(aiohttp.WSServerHandshakeError) as refused:
        async with PageConnection.connected(fed.address, origin):
            pass
    assert refused.value.status == 403


async def test_a_page_of_the_callers_own_is_told_it_too(fed: ServedFeed) -> None:
    url = "https://studio.example:443/renderer?x=1"
    wanted = scene_program(scene(layout(10))).model_copy(update={"composition_url": url})
    fed.feed.want(wanted)
    for origin in ("https://studio.example", OURS):
        async with PageConnection.connected(fed.address, origin) as page:
            assert (await page.told())["type"] == "state"


@pytest.mark.parametrize(
    ("url", "origin"),
    [
        ("https://A.example/x?y", "https://a.example"),
        ("http://[::1]:8080/", "http://[::1]:8080"),
        ("data:text/html,x", None),
        ("https://graphics.example:80443/", None),
        ("https://graphics.ex℀mple/", None),
        ("https://[graphics.example/", None),
    ],
)
def test_origins_are_written_as_browsers_do(url: str, origin: str | None) -> None:
    assert origin_of(url) == origin


async def test_a_page_is_ready_while_one_that_said_so_is_connected(fed: ServedFeed) -> None:
    fed.feed.want(scene_program(scene(layout(10))))
    assert not fed.feed.ready
    async with PageConnection.connected(fed.address) as page:
        await page.told()
        assert not fed.feed.ready
        await page.say("ready")
        await fed.until(lambda: fed.feed.ready)
        before = fed.changes
    await fed.until(lambda: not fed.feed.ready)
    assert fed.changes > before


async def test_failures_are_kept_until_the_next_page_speaks(fed: ServedFeed) -> None:
    fed.feed.want(scene_program(scene(layout(10))))
    failed = [{"layoutId": "stage", "layerId": "left", "reason": "HTTP 404"}]
    async with PageConnection.connected(fed.address) as page:
        await page.say("failed", layers=failed)
        await page.say("levels", layers={"left": -12.5})
        await fed.until(lambda: fed.feed.levels)
    [told] = fed.feed.failed_layers
    assert (told.layout, told.layer, told.reason, told.on_air) == ("stage", "left", "HTTP 404", True)
    await fed.until(lambda: not fed.feed.levels)
    async with PageConnection.connected(fed.address) as page:
        await page.say("ready")
        await fed.until(lambda: not fed.feed.failed_layers)


async def test_levels_are_those_that_the_newest_page_has_told(fed: ServedFeed) -> None:
    fed.feed.want(scene_program(scene(layout(10))))
    async with PageConnection.connected(fed.address) as first:
        await first.say("levels", layers={"left": -12.5})
        await fed.until(lambda: fed.feed.levels)
        async with PageConnection.connected(fed.address) as second:
            await second.told()
            assert fed.feed.levels == {}
            await first.say("levels", layers={"left": -6})
            await first.say("ready")
            await fed.until(lambda: fed.feed.ready)
            assert fed.feed.levels == {}
            await second.say("levels", layers={"right": -20})
            await fed.until(lambda: fed.feed.levels == {"right": -20})
        await fed.until(lambda: fed.feed.levels == {"left": -6})
    await fed.until(lambda: fed.feed.levels == {})


async def test_failures_that_come_and_go_are_told_once_an_interval(
    fed: ServedFeed, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(page_socket, "FAILURES_INTERVAL_S", 0.2)
    fed.feed.want(scene_program(scene(layout(10))))
    failed = [{"layoutId": "stage", "layerId": "left", "reason": "HTTP 404"}]
    async with PageConnection.connected(fed.address) as page:
        for _ in range(50):
            await page.say("failed", layers=failed)
            await page.say("failed", layers=[])
        await page.say("failed", layers=failed * 2)
        await fed.until(lambda: len(fed.feed.failed_layers) == 2)
    assert fed.changes <= 3


async def test_what_is_no_message_changes_nothing(fed: ServedFeed) -> None:
    fed.feed.want(scene_program(scene(layout(10))))
    async with PageConnection.connected(fed.address) as page:
        await page.told()
        for text in ("", "{", "[]", '{"type":"other"}', '{"type":"failed","layers":[{}]}'):
            await page.socket.send_str(text)
        await page.say("ready")
        await fed.until(lambda: fed.feed.ready)
        assert fed.feed.failed_layers == []
