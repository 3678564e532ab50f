"""What is asked for before its layout is selected."""

from __future__ import annotations

import asyncio

import pytest
from aiohttp import web
from tests.support.scene import media
from tests.support.scene.compositor import compositor
from tests.support.scene.fake_agent import layer, scene, state
from tests.support.scene.picture import BLUE, RED
from tests.support.waiting import until

pytestmark = pytest.mark.media

SIZE = {"width": 40, "height": 40}
LATE_S = 0.5


async def test_pictures_and_kept_pages_of_a_layout_off_air_are_asked_for_before_it_is_selected_and_not_again(
    chromium: str,
) -> None:
    """Another page is asked for once it is on air."""
    asked: list[str] = []
    picture = media.serves(media.png(40, 40, RED), "image/png")
    document = media.page("<body style='background: blue'>")

    async def note(request: web.Request) -> web.StreamResponse:
        asked.append(request.path)
        return await (picture if request.path == "/ahead.png" else document)(request)

    served = dict.fromkeys(("/ahead.png", "/kept", "/other"), note)
    async with compositor(chromium, state(scene()), served) as page:
        # A page of the compositor's own origin is refused
        base = f"http://localhost:{page.agent.port}"
        layers = [
            layer("image", "image", data={"media": {"url": f"{base}/ahead.png"}}, **SIZE),
            layer("kept", "webpage", data={"url": f"{base}/kept", "mode": "keep-loaded"}, x=100, **SIZE),
            layer("other", "webpage", data={"url": f"{base}/other"}, x=200, **SIZE),
        ]
        layouts = [scene(), scene(*layers, id="two")]
        await page.agent.send(state(*layouts))
        # A page is also asked whether it is there, beside its frame
        await until(lambda: asked.count("/ahead.png") and asked.count("/kept") > 1, "both are asked for")
        await asyncio.sleep(LATE_S)
        assert "/other" not in asked
        asked.clear()
        await page.agent.send(state(*layouts, selectedLayoutId="two"))
        await until(lambda: "/other" in asked, "the layout is on air")

        async def are_drawn() -> bool:
            drawn = await page.picture()
            return drawn.has(20, 20, RED) and drawn.has(120, 20, BLUE) and drawn.has(220, 20, BLUE)

        await until(are_drawn, "all three are drawn")
        assert set(asked) == {"/other"}
