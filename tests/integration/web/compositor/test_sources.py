"""Live sources on layers: their pictures, what stands for them while they are away, and what they cost."""

from __future__ import annotations

from itertools import groupby
from typing import Any

import pytest
from aiohttp import web
from tests.support.scene import media
from tests.support.scene.compositor import Compositor, compositor
from tests.support.scene.fake_agent import layer, scene, square, state
from tests.support.scene.live_source import LiveSource, scripts
from tests.support.scene.picture import GREEN, Colour, Picture
from tests.support.scene.sound import hear_tone
from tests.support.waiting import until

pytestmark = pytest.mark.media

RED, BLUE, SLATE = (255, 0, 0), (0, 0, 255), (0, 128, 0)
WATCH = """
const {parentElement: box} = document.querySelector('[data-layer=a] video'), watched = [];
const isDrawn = element => getComputedStyle(element).visibility === 'visible';
const isFaint = element => +getComputedStyle(element).opacity < 0.01;
const look = () => {
  const video = box.querySelector('video'), seen = [];
  if (isDrawn(video)) seen.push(isFaint(video) ? 'faint video' : 'video');
  if (isDrawn(box.lastElementChild)) seen.push('slate');
  watched.push(seen.join(' and '));
  requestAnimationFrame(look);
};
look();
"""
"""Keeps what is to be seen of a layer on each frame of the page."""
FAILED_LOADS = 2
WIDTH = 320
"""Of a source, in pixels."""
CODEC = 4
"""What a codec makes of a colour is that near to it."""


def near(picture: Picture, colour: Colour, x: int = 80, y: int = 45) -> bool:
    return all(abs(is_ - wanted) <= CODEC for is_, wanted in zip(picture.at(x, y), colour, strict=True))


def served(**sources: LiveSource) -> dict[str, media.Handler]:
    slate = {"/slate.png": media.serves(media.png(16, 9, GREEN), "image/png")}
    return {**slate, **{f"/sources/{id_}": each.serve() for id_, each in sources.items()}}


def source(id_: str = "a", source_id: str = "cam", **given: Any) -> dict[str, Any]:
    data = {"source": {"id": source_id, "volume": 1}, **given.pop("data", {})}
    return layer(id_, "source", **{"width": 160, "height": 90, "data": data, **given})


async def shows(page: Compositor, colour: Colour, x: int = 80, y: int = 45) -> None:
    await page.shows(colour, CODEC, x, y)


async def sounds(page: Compositor, hz: float, db: float) -> None:
    await hear_tone(page.tab, hz, db, 2)


async def test_a_source_is_seen_and_heard(chromium: str) -> None:
    cam = LiveSource(RED)
    async with compositor(chromium, state(scene(source())), served(cam=cam)) as page:
        await shows(page, RED)
        await page.tab.until("heard.samples.length > 24000")
        await sounds(page, 440, -6)
        await page.agent.heard("none fails", lambda said: said["type"] == "failed" and not said["layers"])


@pytest.mark.parametrize("script", ["audio-playout.js", "source.js"])
async def test_a_source_is_heard_though_a_script_of_it_could_not_be_loaded_at_once(
    chromium: str, script: str
) -> None:
    path, asked = f"/sources/{script}", []

    async def serve(request: web.Request) -> web.StreamResponse:
        asked.append(request.url)
        if len(asked) < FAILED_LOADS + 1:
            raise web.HTTPServiceUnavailable
        served: web.StreamResponse = await scripts()[path](request)
        return served

    async with compositor(
        chromium, state(scene(source())), {**served(cam=LiveSource(RED), other=LiveSource(BLUE)), path: serve}
    ) as page:
        await sounds(page, 440, -6)
        # Another source has what is there now
        await page.change(2, source(source_id="other"))
        await shows(page, BLUE)
        await sounds(page, 440, -6)
        assert len(asked) == FAILED_LOADS + 1


async def test_a_source_is_decoded_once_for_all_layers_and_layouts_that_show_it(chromium: str) -> None:
    cam = LiveSource(RED)
    small = source("small", x=200, width=80, height=45)
    layouts = [scene(source(), small), scene(source(x=160), id="two")]
    async with compositor(chromium, state(*layouts), served(cam=cam)) as page:
        await shows(page, RED)
        await shows(page, RED, 240, 20)
        await page.agent.send(state(*layouts, selectedLayoutId="two"))
        await shows(page, RED, 300, 45)
        assert cam.readers == 1


async def test_a_source_that_no_layer_shows_any_more_is_closed(chromium: str) -> None:
    cam = LiveSource(RED)
    async with compositor(chromium, state(scene(source())), served(cam=cam)) as page:
        await shows(page, RED)
        await page.change(2, layer("root", "root"), remove=("a",))
        for _ in range(400):
            if not cam.readers:
                break
            await page.picture()
        assert cam.readers == 0


async def away(page: Compositor, cam: LiveSource) -> None:
    cam.published = False
    await page.agent.heard("that it is away", lambda said: said["type"] == "failed" and said["layers"])


@pytest.mark.parametrize(("then", "colour"), [("slate", SLATE), ("hide", BLUE)])
async def test_what_stands_for_a_source_that_is_away_does_so_until_it_is_back(
    chromium: str, then: str, colour: Colour
) -> None:
    """The slate, or what is below it."""
    cam = LiveSource(RED)
    async with compositor(chromium, state(scene()), served(cam=cam)) as page:
        data = {"onDisconnect": then, "disconnectedSlate": {"url": f"{page.agent.url}/slate.png"}}
        await page.agent.send(state(scene(square("below", "blue"), source(data=data))))
        await shows(page, RED)
        page.agent.said.clear()
        await away(page, cam)
        await shows(page, colour)
        cam.published = True
        await shows(page, RED)


async def test_a_source_that_sends_no_video_is_told_until_it_does(chromium: str) -> None:
    cam = LiveSource(RED, has_video=False)
    slate = {"onDisconnect": "slate", "disconnectedSlate": {"url": "/slate.png"}}
    async with compositor(chromium, state(scene(source(data=slate))), served(cam=cam)) as page:
        told = await page.agent.heard("no video", lambda said: "sends no video" in str(said))
        assert [each["layerId"] for each in told["layers"]] == ["a"]
        await sounds(page, 440, -6)
        page.agent.said.clear()
        cam.published = False
        await page.agent.heard("that it is away", lambda said: "is not connected" in str(said))
        cam.has_video = cam.published = True
        await page.agent.heard("none fails", lambda said: said["type"] == "failed" and not said["layers"])
        await shows(page, RED)


async def test_the_slate_goes_once_the_picture_has_had_time_to_come_to_the_screen(chromium: str) -> None:
    """An element that was hidden is seen some frames after it is shown: on air that was a gap.

    So it is drawn ahead, too faint to be seen, and takes the slate's place in one frame of the page.
    """
    cam = LiveSource(RED, published=False)
    async with compositor(chromium, state(scene()), served(cam=cam)) as page:
        slate = {"onDisconnect": "slate", "disconnectedSlate": {"url": f"{page.agent.url}/slate.png"}}
        await page.agent.send(state(scene(square("below", "yellow"), source(data=slate))))
        await shows(page, SLATE)
        await page.tab.evaluate(WATCH)
        cam.published = True
        await page.tab.until("watched.at(-1) === 'video'")
        frames = await page.tab.evaluate("watched")
    order = [each for each, _ in groupby(frames)]
    assert order == ["slate", "faint video and slate", "video"]
    assert frames.count("faint video and slate") >= 5


async def test_the_slate_stands_until_the_next_picture_and_the_last_one_is_not_seen_again(
    chromium: str,
) -> None:
    cam = LiveSource(RED)
    async with compositor(chromium, state(scene()), served(cam=cam)) as page:
        slate = {"onDisconnect": "slate", "disconnectedSlate": {"url": f"{page.agent.url}/slate.png"}}
        await page.agent.send(state(scene(square("below", "yellow"), source(data=slate))))
        await shows(page, RED)
        page.agent.said.clear()
        await away(page, cam)
        await shows(page, SLATE)
        cam.colour, cam.published = BLUE, True
        seen = [await page.picture()]
        while not near(seen[-1], BLUE):
            assert near(seen[-1], SLATE), seen[-1].at(80, 45)
            assert len(seen) < 400
            seen.append(await page.picture())


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("slate.png", "the source is not connected"),
        ("none.png", "the source is not connected; disconnectedSlate: HTTP 404"),
    ],
)
async def test_a_source_that_is_away_is_told_whether_or_not_its_slate_is_there(
    chromium: str, name: str, reason: str
) -> None:
    cam = LiveSource(RED, published=False)
    async with compositor(chromium, state(scene()), served(cam=cam)) as page:
        wish = {"onDisconnect": "slate", "disconnectedSlate": {"url": f"{page.agent.url}/{name}"}}
        await page.agent.send(state(scene(square("below", "yellow"), source(data=wish))))
        if name == "slate.png":
            await shows(page, SLATE)
        await page.agent.heard("why", lambda said: said["type"] == "failed" and reason in str(said["layers"]))
        await page.picture()
        last = [said["layers"] for said in page.agent.said if said["type"] == "failed"][-1]
        assert [each["reason"] for each in last] == [reason]


async def test_a_source_that_remains_keeps_its_last_picture(chromium: str) -> None:
    cam = LiveSource(RED)
    layers = [square("below", "blue"), source(data={"onDisconnect": "remain"})]
    async with compositor(chromium, state(scene(*layers)), served(cam=cam)) as page:
        await shows(page, RED)
        page.agent.said.clear()
        await away(page, cam)
        assert near(await page.picture(), RED)


async def test_a_source_that_was_never_there_is_told_and_holds_the_show_up_no_longer_than_the_deadline(
    chromium: str,
) -> None:
    cam = LiveSource(RED, published=False)
    layers = [square("below", "blue"), source()]
    async with compositor(chromium, state(scene(*layers)), served(cam=cam)) as page:
        told = await page.agent.heard("a failure", lambda said: said["type"] == "failed" and said["layers"])
        assert told["layers"][0] == {
            "layoutId": "one",
            "layerId": "a",
            "reason": "the source is not connected",
        }
        assert near(await page.picture(), BLUE)
        cam.published = True
        await shows(page, RED)


async def test_another_source_takes_the_place_on_the_same_layer(chromium: str) -> None:
    first, second = LiveSource(RED), LiveSource(BLUE)
    async with compositor(chromium, state(scene(source())), served(cam=first, other=second)) as page:
        await shows(page, RED)
        await page.change(2, source(source_id="other"))
        await shows(page, BLUE)


async def test_a_source_of_a_layout_that_is_loaded_ahead_is_taken_once_that_is_switched_to(
    chromium: str,
) -> None:
    first, second = LiveSource(RED), LiveSource(BLUE)
    layouts = [scene(source()), scene(source(source_id="other"), id="two")]
    async with compositor(chromium, state(*layouts), served(cam=first, other=second)) as page:
        await shows(page, RED)
        await page.tab.until("document.querySelectorAll('.scene').length === 2")
        assert (first.readers, second.readers) == (1, 0)
        await page.agent.send(state(*layouts, selectedLayoutId="two"))
        await shows(page, BLUE)
        for _ in range(400):
            if not first.readers:
                break
            await page.picture()
        assert (first.readers, second.readers) == (0, 1)


async def test_a_source_that_is_no_longer_shown_leaves_no_playout_behind(chromium: str) -> None:
    """Another one is heard meanwhile: sound goes on, and with it what is asked for samples."""
    sources = served(cam=LiveSource(RED), other=LiveSource(BLUE))
    stays = source(source_id="other")
    async with compositor(chromium, state(scene(stays)), sources) as page:
        await sounds(page, 440, -6)
        before = await page.tab.alive("AudioWorkletNode")

        async def are_alive(more: int) -> None:
            async def is_so() -> bool:
                return await page.tab.alive("AudioWorkletNode") == before + more

            await until(is_so, f"{more} playouts more", 15)

        for version in (2, 4):
            root = layer("root", "root", children=["a", "b", "c"])
            await page.change(version, root, source("b"), source("c", "cam"))
            await are_alive(1)
            await page.change(version + 1, remove=("b", "c"))
            await are_alive(0)


async def test_a_source_is_no_larger_than_it_is_drawn_and_whole_once_it_grows(chromium: str) -> None:
    """Also while it is away: its last picture remains."""
    cam = LiveSource(RED)
    remains = {"onDisconnect": "remain"}
    size = """(() => {
      const video = document.querySelector('[data-layer=a] video'), frame = new VideoFrame(video);
      const found = [frame.codedWidth, video.videoWidth];
      frame.close();
      return found;
    })()"""

    async with compositor(chromium, state(scene(source(data=remains))), served(cam=cam)) as page:
        await shows(page, RED)

        async def is_as_wide_as(pixels: int) -> None:
            async def is_so() -> bool:
                return bool(await page.tab.evaluate(size) == [pixels, WIDTH])

            await until(is_so, f"{pixels} pixels in a row, of {WIDTH}")

        await is_as_wide_as(WIDTH // 2)
        await away(page, cam)
        await page.change(2, source(data=remains, width=WIDTH, height=180))
        await is_as_wide_as(WIDTH)
        await shows(page, RED)
        cam.published = True
        await page.change(3, source(data=remains))
        await is_as_wide_as(WIDTH // 2)
