"""What web pages in layers may not do."""

from __future__ import annotations

import asyncio

import pytest
from aiohttp import web
from tests.support.scene import media
from tests.support.scene.compositor import compositor
from tests.support.scene.fake_agent import layer, scene, state
from tests.support.waiting import until

pytestmark = pytest.mark.media

# Without a click a browser refuses both to every page of another origin
LEAVES = """<script>
addEventListener('click', () => {
    fetch(navigator.userActivation.isActive ? '/clicked' : '/no-gesture');
    try { open('/opened'); } catch {}
    try { top.location = '/left'; } catch {}
});
</script>"""
NAVIGATION_S = 1.0


async def test_a_page_that_is_clicked_on_opens_nothing_and_leaves_the_compositor_where_it_is(
    chromium: str,
) -> None:
    asked: list[str] = []

    async def note(request: web.Request) -> web.StreamResponse:
        asked.append(request.path)
        return await media.page("elsewhere")(request)

    served = {"/page": media.page(LEAVES)} | dict.fromkeys(
        ("/clicked", "/no-gesture", "/opened", "/left"), note
    )
    async with compositor(chromium, state(scene()), served) as page:
        url = f"http://localhost:{page.agent.port}/page"
        await page.agent.send(state(scene(layer("a", "webpage", data={"url": url}))))
        await page.tab.until("document.querySelector('iframe')")

        async def clicked() -> bool:
            at = {"x": 100, "y": 100, "button": "left", "clickCount": 1}
            for type_ in ("mousePressed", "mouseReleased"):
                await page.tab.call("Input.dispatchMouseEvent", type=type_, **at)
            return bool(asked)

        await until(clicked, "the page takes a click", 10)
        await asyncio.sleep(NAVIGATION_S)
        assert set(asked) == {"/clicked"}
        targets = (await page.tab.call("Target.getTargets"))["targetInfos"]
        opened = [each for each in targets if each["type"] == "page" and str(page.agent.port) in each["url"]]
        assert [each["url"] for each in opened] == [f"{page.agent.url}/compositor/?at=token"]


async def test_pages_are_sandboxed_with_scripts_their_own_origin_and_forms_alone(chromium: str) -> None:
    async with compositor(chromium, state(scene()), {"/page": media.page("hello")}) as page:
        url = f"http://localhost:{page.agent.port}/page"
        await page.agent.send(state(scene(layer("a", "webpage", data={"url": url}))))
        tokens = await page.tab.until("[...document.querySelector('iframe')?.sandbox ?? []]")
        assert set(tokens) == {"allow-scripts", "allow-same-origin", "allow-forms"}
