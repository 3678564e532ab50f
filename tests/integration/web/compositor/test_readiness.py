"""When the page is ready, what that takes, and what it costs to stand still."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from tests.support.control_plane import free_port
from tests.support.scene import media
from tests.support.scene.browser import tab
from tests.support.scene.compositor import compositor
from tests.support.scene.fake_agent import FakeAgent, layer, scene, square, state
from tests.support.scene.picture import RED

pytestmark = pytest.mark.media
READY_MS = 400
"""The bound; tests have twice of it."""
NOTE = "document.addEventListener('onair:ready', () => { window.readyMs = performance.now(); });"
BIG = media.serves(media.png(1920, 1080, RED), "image/png", cached=True)


def images(port: int) -> list[dict[str, Any]]:
    url = f"http://127.0.0.1:{port}/big.png"
    return [
        layer(f"image-{index}", "image", data={"media": {"url": f"{url}?{index}"}}, x=index * 10, width=100)
        for index in range(4)
    ]


async def test_a_page_is_ready_soon_with_images_that_are_cached(chromium: str) -> None:
    port = free_port()
    first = state(scene(square("below", "blue"), *images(port)))
    taken: list[float] = []
    for _ in range(4):
        agent = FakeAgent(first, {"/big.png": BIG}, port)
        url = f"{agent.url}/compositor/?at=token"
        async with agent.serving(), tab(chromium, url, 320, 180, NOTE) as page:
            taken.append(await page.until("window.readyMs"))
    print(f"navigation to ready: {', '.join(f'{each:.0f}' for each in taken)} ms")
    assert min(taken[1:]) < READY_MS * 2


async def test_readiness_waits_for_images_and_not_for_ever(chromium: str) -> None:
    port = free_port()

    gone = asyncio.Event()

    async def never(request: media.web.Request) -> media.web.StreamResponse:
        response = media.web.StreamResponse(headers={"Content-Type": "image/png"})
        await response.prepare(request)
        await gone.wait()
        return response

    first = state(scene(square("below", "blue"), *images(port)))
    async with compositor(chromium, first, {"/big.png": never}, port=port) as page:
        assert (await page.picture()).has(300, 170, (0, 0, 255))
        gone.set()


async def test_a_scene_that_stands_still_takes_no_frames_and_hardly_any_time(chromium: str) -> None:
    port = free_port()
    first = state(
        scene(square("below", "blue"), *images(port), layer("words", "text", data={"text": "hello"}))
    )
    async with compositor(chromium, first, {"/big.png": BIG}, port=port) as page:
        await page.tab.call("Performance.enable")

        async def busy_s() -> float:
            metrics = await page.tab.call("Performance.getMetrics")
            return float({each["name"]: each["value"] for each in metrics["metrics"]}["TaskDuration"])

        await page.picture()
        before = await busy_s()
        await page.tab.evaluate("new Promise(done => setTimeout(done, 2000))")
        busy = (await busy_s() - before) / 2
        print(f"standing still: {busy * 100:.1f} % of a core on the page's thread")
        assert busy < 0.1
