"""Videos of BT.709 are drawn in the colours that they have, though the browser takes blue from them."""

from __future__ import annotations

from typing import Any

import pytest
from tests.support.scene import media
from tests.support.scene.compositor import Compositor, compositor
from tests.support.scene.fake_agent import layer, scene, square, state
from tests.support.scene.picture import Colour

pytestmark = pytest.mark.media

COLOUR = 4
BLUE, VIOLET, GREEN, ORANGE = (16, 32, 224), (96, 0, 255), (16, 160, 48), (208, 112, 16)
SECONDS = (BLUE, VIOLET, GREEN, ORANGE)
MEDIA = media.Media(
    lambda: {
        "/clip.mp4": media.serves(media.mp4(*SECONDS), "video/mp4"),
        "/other.mp4": media.serves(media.mp4(VIOLET, VIOLET), "video/mp4"),
        "/blue.mp4": media.serves(media.mp4(*[BLUE] * 8), "video/mp4"),
        "/missing.mp4": media.missing,
        "/clip.webm": media.serves(media.webm(BLUE, BLUE), "video/webm"),
        "/stinger.mp4": media.serves(media.mp4(BLUE, BLUE, ORANGE, ORANGE, size=(320, 180)), "video/mp4"),
    }
)
VIDEO = "document.querySelector('[data-layer=a] video')"
VIDEOS = "document.querySelectorAll('[data-layer=a] video').length"


def video(page: Compositor, name: str = "clip.mp4", **given: Any) -> dict[str, Any]:
    data = {"media": {"url": f"{page.agent.url}/{name}"}}
    return layer("a", "video", data=data, **{"width": 160, "height": 90, **given})


def off(seen: Colour, colour: Colour) -> int:
    return max(abs(is_ - wanted) for is_, wanted in zip(seen, colour, strict=True))


async def shows(page: Compositor, colour: Colour, x: int = 80, y: int = 45) -> None:
    await page.shows(colour, COLOUR, x, y)


async def test_each_frame_has_its_blue(chromium: str) -> None:
    async with compositor(chromium, state(scene()), MEDIA) as page:
        await page.agent.send(state(scene(video(page))))
        await page.tab.until(f"{VIDEO}?.currentTime > 0.2")
        await page.tab.evaluate(f"{VIDEO}.pause()")
        for second, colour in enumerate(SECONDS):
            await page.tab.evaluate(f"{VIDEO}.currentTime = {second + 0.55}")
            await page.tab.until(f"!{VIDEO}.seeking")
            await shows(page, colour)


async def test_no_frame_is_without_it_while_it_plays(chromium: str) -> None:
    async with compositor(chromium, state(scene()), MEDIA) as page:
        await page.agent.send(state(scene(video(page, "blue.mp4"))))
        await shows(page, BLUE)
        for _ in range(40):
            assert off((await page.picture()).at(80, 45), BLUE) <= COLOUR


async def test_another_video_takes_its_place_and_other_encodings_are_drawn_by_themselves(
    chromium: str,
) -> None:
    async with compositor(chromium, state(scene()), MEDIA) as page:
        await page.agent.send(state(scene(video(page))))
        await page.tab.until(f"{VIDEO}?.currentTime > 0.2")
        await page.tab.until(f"{VIDEOS} === 2")
        await page.agent.send(state(scene(video(page, "other.mp4"), version=2)))
        await page.tab.until(f"{VIDEO}.currentSrc.endsWith('other.mp4') && {VIDEO}.currentTime > 0.2")
        await shows(page, VIOLET)
        await page.agent.send(state(scene(video(page, "clip.webm"), version=3)))
        await page.tab.until(f"{VIDEO}.currentSrc.endsWith('clip.webm') && {VIDEO}.currentTime > 0.2")
        await shows(page, BLUE)
        await page.tab.until(f"{VIDEOS} === 1")


async def test_it_has_its_natural_size_and_that_of_its_box(chromium: str) -> None:
    async with compositor(chromium, state(scene()), MEDIA) as page:
        ground = square("ground", "#000", width=320, height=180)
        await page.agent.send(state(scene(ground, video(page, "blue.mp4", width=None, height=None))))
        await page.tab.until(f"{VIDEO}?.currentTime > 0.2")
        for x, y, colour in ((2, 2, BLUE), (157, 87, BLUE), (163, 45, (0, 0, 0)), (80, 93, (0, 0, 0))):
            await shows(page, colour, x, y)
        await page.agent.send(state(scene(ground, video(page, "blue.mp4", width=320, height=180), version=2)))
        await shows(page, BLUE, 316, 176)


async def test_a_stinger_has_its_blue_each_time(chromium: str) -> None:
    async with compositor(chromium, state(scene()), MEDIA) as page:
        url = f"{page.agent.url}/stinger.mp4"
        stinger = {"cut": {"cutPointMs": 1900, "media": {"url": url, "volume": 0.5}}}
        transitions = [{"fromLayoutIds": [], "stinger": stinger}]
        layouts = [
            scene(square("b", "#fff", width=320, height=180), id=id_, transitions=transitions)
            for id_ in ("one", "two")
        ]
        await page.agent.send(state(*layouts))
        await page.stinger_loaded()
        for selected in ("two", "one"):
            await page.agent.send(state(*layouts, selectedLayoutId=selected))
            await page.tab.until("document.querySelector('.cover video')?.currentTime > 0.2")
            await shows(page, BLUE, 160, 90)
            await page.tab.until("document.querySelector('.cover video')?.currentTime > 2.2")
            await shows(page, ORANGE, 160, 90)
            await page.tab.until("!document.querySelector('.cover')", 10)


async def test_a_video_that_is_not_there_is_not_covered_by_the_former_one(chromium: str) -> None:
    async with compositor(chromium, state(scene()), MEDIA) as page:
        ground = square("ground", "#fff", width=320, height=180)
        await page.agent.send(state(scene(ground, video(page, "blue.mp4"))))
        await page.tab.until(f"{VIDEO}?.currentTime > 0.2")
        await shows(page, BLUE)
        await page.agent.send(state(scene(ground, video(page, "missing.mp4"), version=2)))
        await page.agent.heard("a failure", lambda said: said["type"] == "failed" and said["layers"])
        await shows(page, (255, 255, 255))
