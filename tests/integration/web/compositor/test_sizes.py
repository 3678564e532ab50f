"""Natural sizes of what a layer without width or height shows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.support.delivery.livekit_server import LiveKitServer
from tests.support.rooms.member import member
from tests.support.scene import media
from tests.support.scene.compositor import Compositor, compositor
from tests.support.scene.fake_agent import layer, scene, state
from tests.support.scene.live_source import LiveSource
from tests.support.scene.picture import RED, YELLOW, Picture, same_box
from tests.support.waiting import until

pytestmark = pytest.mark.media

Box = tuple[int, int, int, int]
Size = dict[str, int]
LARGE = {"width": 640, "height": 360}
"""A layout that is drawn at half its size, so that 320 × 180 pixels are not all of it."""
SIZES: list[tuple[Size, tuple[int, int]]] = [
    ({}, (160, 90)),
    ({"width": 80}, (80, 45)),
    ({"height": 60}, (107, 60)),
]
"""Of a picture of 160 × 90; where one side is null, the proportion is kept."""


def drawn(picture: Picture) -> Box | None:
    """The box of all that is not black."""
    rows, columns = np.nonzero(picture.pixels.max(axis=2) > 64)
    if not len(rows):
        return None
    left, top = int(columns.min()), int(rows.min())
    return left, top, int(columns.max()) - left + 1, int(rows.max()) - top + 1


async def is_drawn(page: Compositor, box: Box) -> None:
    async def has_come() -> bool:
        return same_box(drawn(await page.picture()), box)

    await until(has_come, f"{box} is drawn", 10)


@pytest.mark.parametrize(("given", "size"), SIZES)
async def test_a_video_has_its_natural_size(chromium: str, given: Size, size: tuple[int, int]) -> None:
    clip = {"/clip.webm": media.serves(media.webm(RED, size=(160, 90)), "video/webm")}
    async with compositor(chromium, state(scene()), clip) as page:
        data = {"media": {"url": f"{page.agent.url}/clip.webm"}}
        await page.agent.send(state(scene(layer("a", "video", data=data, x=20, y=10, **given))))
        await is_drawn(page, (20, 10, *size))


@pytest.mark.parametrize(("given", "size"), SIZES)
async def test_a_source_has_the_size_that_is_sent(chromium: str, given: Size, size: tuple[int, int]) -> None:
    twice = {side: 2 * pixels for side, pixels in given.items()}
    shown = layer("a", "source", data={"source": {"id": "cam"}}, x=40, y=20, **twice)
    served = {"/sources/cam": LiveSource(RED).serve()}
    async with compositor(chromium, state(scene(shown, **LARGE)), served) as page:
        await is_drawn(page, (20, 10, *size))


async def test_a_guest_has_the_size_that_is_sent(chromium: str, tmp_path: Path) -> None:
    with LiveKitServer(tmp_path) as server:
        rights: dict[str, Any] = {"hidden": True, "canPublish": False, "canSubscribe": True}
        room = {"url": server.url, "token": server.token("show", "renderer-1", **rights)}
        async with (
            member(server.url, server.token("show", "guest", canPublish=True)) as guest,
            compositor(chromium, state(scene(**LARGE), room=room)) as page,
        ):
            await guest.publish_camera(320, 180, 10)
            for given, size in SIZES:
                twice = {side: 2 * pixels for side, pixels in given.items()}
                data = {"webrtc": {"id": "guest", "type": "webcam"}}
                shown = layer("a", "webrtc", data=data, x=40, y=20, **twice)
                await page.agent.send(state(scene(shown, **LARGE), room=room))
                await is_drawn(page, (20, 10, *size))


WORDS = "m\nmmmm mmmm"
STYLE = {"backgroundColor": "yellow", "color": "yellow", "fontSize": 20, "lineHeight": "30px"}
WIDEST = """(() => {
    const drawing = new OffscreenCanvas(1, 1).getContext('2d');
    drawing.font = '20px sans-serif';
    return Math.round(drawing.measureText('mmmm mmmm').width);
})()"""


@pytest.mark.parametrize(
    ("given", "width", "height"),
    [({}, None, 60), ({"height": 100}, None, 100), ({"width": 200}, 200, 60), ({"width": 100}, 100, 90)],
)
async def test_a_text_has_the_size_of_its_words(
    chromium: str, given: Size, width: int | None, height: int
) -> None:
    """The background is as large; words that are wider than what is given go to further lines."""
    data: dict[str, Any] = {"text": WORDS, "style": STYLE}
    async with compositor(chromium, state(scene(layer("a", "text", data=data, x=20, y=10, **given)))) as page:
        width = width or await page.tab.evaluate(WIDEST)
        box = (await page.picture()).box(YELLOW)
        assert same_box(box, (20, 10, width, height)), box


LETTERS = {"fontSize": 20, "lineHeight": "30px"}
AMPLE = {"width": 260, "height": 140}


@pytest.mark.parametrize(
    "words", ["█mmm mmmm█", "█\nmmmm mmmm mm█\n█", "█ j" * 4], ids=["line", "lines", "words"]
)
async def test_a_text_without_a_size_is_painted_as_one_with_room_enough(chromium: str, words: str) -> None:
    """On the layout, and in a group that is smaller than it."""
    data = {"text": words, "style": LETTERS}
    async with compositor(chromium, state(scene())) as page:

        async def painted(version: int, size: Size, **of_group: int) -> Box:
            group = layer("group", "group", children=["a"], **of_group)
            await page.agent.send(state(scene(group, layer("a", "text", data=data, **size), version=version)))
            await page.tab.until(f"document.querySelector('[data-layout=one]').dataset.version == {version}")
            box = drawn(await page.picture())
            assert box is not None
            return box

        wanted = await painted(2, AMPLE, x=20, y=10)
        assert wanted[0] + wanted[2] < 20 + AMPLE["width"]
        for version, of_group in enumerate(({}, {"width": 30, "height": 20}), 3):
            box = await painted(version, {}, x=20, y=10, **of_group)
            assert same_box(box, wanted), (box, wanted)


@pytest.mark.parametrize(
    ("given", "size"), [({}, (160, 90)), ({"width": 160}, (40, 90)), ({"height": 120}, (160, 30))]
)
async def test_a_webpage_is_as_large_as_its_layout(chromium: str, given: Size, size: tuple[int, int]) -> None:
    """At a quarter of its pixels, so that all edges are on the page. No proportion is kept."""
    red = {"/page": media.page("<body style='background: red'>")}
    async with compositor(chromium, state(scene(**LARGE)), red) as page:
        data = {"url": f"http://localhost:{page.agent.port}/page"}
        shown = layer("a", "webpage", data=data, x=40, y=20, scale=0.5, **given)
        await page.agent.send(state(scene(shown, **LARGE)))
        await is_drawn(page, (20, 10, *size))
