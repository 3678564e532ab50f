"""What web pages in layers may not do."""

from __future__ import annotations

import asyncio
from typing import Any

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


def failing(said: dict[str, Any]) -> set[str]:
    return {each["layerId"] for each in said.get("layers", ())} if said["type"] == "failed" else set()


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


async def test_a_page_that_is_not_to_be_there_does_not_fail(chromium: str) -> None:
    """It was corrected while it was hidden, or went off air."""

    def page_of(id_: str, url: str, **given: object) -> dict[str, Any]:
        return layer(id_, "webpage", data={"url": url}, width=10, height=10, **given)

    served = {"/page": media.page("hello"), "/missing": media.missing}
    async with compositor(chromium, state(scene()), served) as page:
        url = f"http://localhost:{page.agent.port}"
        bad, missing = page_of("refused", "ftp://one/page", hidden=True), page_of("missing", f"{url}/missing")
        other = scene(id="two")
        await page.agent.send(state(scene(bad, missing), other))
        await page.agent.heard("both fail", lambda said: failing(said) == {"refused", "missing"})
        await page.change(2, page_of("refused", f"{url}/page", hidden=True))
        await page.agent.heard("one fails", lambda said: failing(said) == {"missing"})
        page.agent.said.clear()
        now = scene(page_of("refused", f"{url}/page", hidden=True), missing, version=3)
        await page.agent.send(state(now, other, selectedLayoutId="two"))
        await page.agent.heard("none fails", lambda said: said == {"type": "failed", "layers": []})
