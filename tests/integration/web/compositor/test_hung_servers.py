"""Media servers that hang, from the first byte on or in the middle, and those that are merely slow."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from aiohttp import web
from tests.support.scene import media
from tests.support.scene.compositor import Compositor, compositor
from tests.support.scene.fake_agent import layer, scene, square, state
from tests.support.scene.picture import BLUE, RED

pytestmark = pytest.mark.media

YELLOW = (255, 255, 0)
CODEC = 24
TOLD_S = 40.0
SLOW_ASKED = 2
STINGER = "document.querySelector('.cover video')"


class HungServer:
    """Never responds to what it is asked while it hangs; of one video it gives a part."""

    def __init__(self) -> None:
        self.hangs = True
        # A browser takes it up in blocks of 32 KiB
        self._video = media.webm(*(RED,) * 7, BLUE, tone_hz=440)
        self.media = {
            "/picture.png": self._unless_hung(media.serves(media.png(160, 90, BLUE), "image/png")),
            "/clip.webm": self._unless_hung(media.serves(media.webm(BLUE), "video/webm")),
            "/stinger.webm": self._unless_hung(media.serves(media.webm(YELLOW), "video/webm")),
            "/breaks-off.webm": self._break_off,
        }

    def _unless_hung(self, handler: media.Handler) -> media.Handler:
        async def serve(request: web.Request) -> web.StreamResponse:
            if self.hangs:
                await asyncio.Event().wait()
            return await handler(request)

        return serve

    async def _break_off(self, request: web.Request) -> web.StreamResponse:
        if self.hangs and request.headers.get("Range") != "bytes=0-0":
            size = len(self._video)
            response = web.StreamResponse(headers={"Content-Length": str(size), "Content-Type": "video/webm"})
            await response.prepare(request)
            await response.write(self._video[: size // 2])
        return await self._unless_hung(media.serves(self._video, "video/webm"))(request)


def shows(page: Compositor, id_: str, type_: str, name: str, x: int = 0, y: int = 0) -> dict[str, Any]:
    data = {"media": {"url": f"{page.agent.url}/{name}"}}
    return layer(id_, type_, data=data, x=x, y=y, width=160, height=90)


async def test_media_of_a_server_that_hangs_are_told_and_come_once_it_responds(chromium: str) -> None:
    server = HungServer()
    async with compositor(chromium, state(scene()), server.media) as page:
        here = scene(
            shows(page, "picture", "image", "picture.png"),
            shows(page, "clip", "video", "clip.webm", x=160),
            shows(page, "breaks-off", "video", "breaks-off.webm", y=90),
        )
        stinger = {"cutPointMs": 100, "media": {"url": f"{page.agent.url}/stinger.webm", "volume": 1}}
        coming = scene(
            square("b", "blue"), id="two", transitions=[{"fromLayoutIds": [], "stinger": {"cut": stinger}}]
        )
        await page.agent.send(state(here, coming))
        await page.tab.until("document.querySelector('[data-layer=breaks-off] video')?.currentTime > 0.5")
        late = shows(page, "same-picture", "image", "picture.png", x=160, y=90)
        here["layers"][0]["children"].append(late["id"])
        await page.change(2, here["layers"][0], late)
        told = await page.agent.heard("all that hang", lambda said: len(said.get("layers", ())) == 4, TOLD_S)
        assert {each["reason"] for each in told["layers"]} == {"its server is unreachable"}
        page.agent.said.clear()
        server.hangs = False
        await page.agent.heard("none fails", lambda said: said == {"type": "failed", "layers": []}, TOLD_S)
        await page.tab.until("document.querySelector('[data-layer=breaks-off] video').ended", TOLD_S)
        for x, y in ((80, 45), (240, 45), (80, 135), (240, 135)):
            await page.shows(BLUE, CODEC, x, y)
        await page.stinger_loaded()


async def test_a_stinger_whose_server_hangs_in_its_middle_plays_whole_the_next_time(chromium: str) -> None:
    server = HungServer()
    async with compositor(chromium, state(scene()), server.media) as page:
        cut = {"cutPointMs": 100, "media": {"url": f"{page.agent.url}/breaks-off.webm", "volume": 1}}
        stung = [{"fromLayoutIds": [], "stinger": {"cut": cut}}]
        layouts = [scene(id=each, transitions=stung) for each in ("one", "two")]
        await page.agent.send(state(*layouts))
        await page.stinger_loaded()
        await page.agent.send(state(*layouts, selectedLayoutId="two"))
        await page.tab.until(STINGER)
        server.hangs = False
        await page.tab.evaluate(f"{STINGER}.playbackRate = 4")
        await page.tab.until(f"!{STINGER}")
        await page.stinger_loaded()
        await page.agent.send(state(*layouts))
        await page.tab.until(STINGER)
        await page.tab.evaluate(f"{STINGER}.playbackRate = 4; window.stung = {STINGER}")
        await page.tab.until(f"!{STINGER}")
        # It is rewound once it is over
        assert await page.tab.evaluate("window.stung.buffered.end(0) > window.stung.duration - 0.1")


async def test_a_picture_that_is_merely_slow_is_loaded_once(chromium: str) -> None:
    content = media.png(160, 90, BLUE)
    loads, asked, ready = [], [], asyncio.Event()

    async def slow(request: web.Request) -> web.StreamResponse:
        if request.headers.get("Range"):
            asked.append(request)
            if len(asked) == SLOW_ASKED:
                ready.set()
            return web.Response(status=206, body=content[:1], headers=media.ANYWHERE)
        loads.append(request)
        response = web.StreamResponse(
            headers={"Content-Length": str(len(content)), "Content-Type": "image/png"}
        )
        await response.prepare(request)
        await response.write(content[:10])
        await ready.wait()
        await response.write(content[10:])
        return response

    async with compositor(chromium, state(scene()), {"/slow.png": slow}) as page:
        await page.agent.send(state(scene(shows(page, "picture", "image", "slow.png"))))
        async with asyncio.timeout(TOLD_S):
            await ready.wait()
        await page.shows(BLUE, 4)
        assert len(loads) == 1
        assert not any(said.get("layers") for said in page.agent.said if said["type"] == "failed")
