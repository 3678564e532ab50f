"""Measures how long the compositor page takes from navigation until it is ready."""

from __future__ import annotations

import time
from collections.abc import Callable

from tests.support.scene.browser import browser, tab
from tests.support.scene.fake_agent import HEIGHT, WIDTH, FakeAgent, layer, scene, square, state
from tests.support.scene.media import png, serves

LOADS = 10
READY_BOUND_S = 0.4


async def test_the_page_is_ready_soon(report: Callable[..., float]) -> None:
    """The first load is of an empty cache, the others have image and scripts."""
    picture = serves(png(WIDTH, HEIGHT, (200, 120, 40)), "image/png")
    agent = FakeAgent({}, {"/picture.png": picture})
    image = layer("image", "image", data={"media": {"url": f"{agent.url}/picture.png"}})
    words = layer("words", "text", data={"text": "Good evening"}, x=20, y=20)
    agent.state = state(scene(image, square("square", "#f00", width=40, height=40), words))
    delays = []
    with browser() as address:
        async with agent.serving(), tab(address, "about:blank", WIDTH, HEIGHT) as page:
            for _ in range(LOADS + 1):
                await page.call("Page.navigate", url="about:blank")
                agent.said.clear()
                began = time.monotonic()
                await page.call("Page.navigate", url=f"{agent.url}/compositor/?at=token")
                await agent.ready()
                delays.append(time.monotonic() - began)
    report("navigation → compositor page ready, nothing cached", delays[:1], "s")
    ready = report("navigation → compositor page ready, cached", delays[1:], "s", READY_BOUND_S)
    assert ready < READY_BOUND_S * 2
