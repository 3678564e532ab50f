"""What layers show: images, text, pages; and what is told of those that cannot be shown."""

from __future__ import annotations

import re
from typing import Any

import pytest
from aiohttp import web
from tests.support.control_plane import free_port
from tests.support.scene import media
from tests.support.scene.compositor import Compositor, compositor
from tests.support.scene.fake_agent import layer, scene, square, state
from tests.support.scene.picture import BLACK, BLUE, GREEN, RED, WHITE, YELLOW, same_box
from tests.support.waiting import until

pytestmark = pytest.mark.media

Box = tuple[int, int, int, int]
MEDIA = media.Media(
    lambda: {
        "/red.png": media.serves(media.png(80, 40, RED), "image/png"),
        "/blue.png": media.serves(media.png(40, 40, BLUE), "image/png"),
        "/text.png": media.serves(b"no picture", "image/png"),
        "/huge.png": media.serves(media.png(20_000, 20_000, RED), "image/png"),
        "/missing.png": media.missing,
    }
)


def image(page: Compositor | str, name: str = "red.png", **given: object) -> dict[str, Any]:
    base = page if isinstance(page, str) else page.agent.url
    return layer("a", "image", **{"data": {"media": {"url": f"{base}/{name}"}}, **given})


async def failure(page: Compositor, layer_id: str = "a") -> str:
    """Why a layer cannot be shown, once that is told."""
    told = await page.agent.heard("a failure", lambda said: said["type"] == "failed" and said["layers"])
    [reason] = [each["reason"] for each in told["layers"] if each["layerId"] == layer_id]
    return str(reason)


@pytest.mark.parametrize(
    ("given", "box"),
    [
        ({}, (0, 0, 80, 40)),
        ({"width": 40}, (0, 0, 40, 20)),
        ({"height": 20}, (0, 0, 40, 20)),
        ({"width": 40, "height": 40}, (0, 0, 40, 40)),
        ({"width": 40, "height": 40, "fit": "contain"}, (0, 10, 40, 20)),
        ({"x": 100, "y": 50, "rotation": 90}, (120, 30, 40, 80)),
    ],
)
async def test_an_image_has_its_natural_size_where_none_is_given(
    chromium: str, given: dict[str, Any], box: Box
) -> None:
    async with compositor(chromium, state(scene()), MEDIA) as page:
        fit = {"fit": given.pop("fit")} if "fit" in given else {}
        shown = image(page, **given)
        shown["data"] |= fit
        await page.agent.send(state(scene(shown)))
        await page.tab.until("document.querySelector('img')")
        assert same_box((await page.picture()).box(RED), box)


async def test_the_page_is_ready_once_the_images_are_there(chromium: str) -> None:
    port = free_port()
    first = state(scene(image(f"http://127.0.0.1:{port}")))
    async with compositor(chromium, first, MEDIA, port=port) as page:
        assert same_box((await page.picture()).box(RED), (0, 0, 80, 40))
        assert "onair:ready" in page.tab.console


async def test_another_image_takes_the_place_without_a_gap(chromium: str) -> None:
    async with compositor(chromium, state(scene()), MEDIA) as page:
        await page.agent.send(state(scene(image(page))))
        await page.tab.until("document.querySelector('img')")
        await page.tab.evaluate(
            "window.gaps = 0, new MutationObserver(() => { if (!document.querySelector('img')) gaps++; })"
            ".observe(document.body, {subtree: true, childList: true})"
        )
        await page.change(2, image(page, "blue.png"))
        await page.tab.until("document.querySelector('img').src.includes('blue')")
        assert same_box((await page.picture()).box(BLUE), (0, 0, 40, 40))
        assert await page.tab.evaluate("gaps") == 0


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("missing.png", "HTTP 404"),
        ("text.png", "it is no picture that can be shown"),
        ("huge.png", "20000 × 20000 pixels are too many"),
    ],
)
async def test_an_image_that_cannot_be_shown_is_told_and_the_rest_stays(
    chromium: str, name: str, reason: str
) -> None:
    async with compositor(chromium, state(scene()), MEDIA) as page:
        await page.agent.send(state(scene(square("below", "blue"), image(page, name))))
        assert await failure(page) == reason
        assert (await page.picture()).box(BLUE) == (0, 0, 320, 180)
        await page.change(2, image(page))
        await page.agent.heard(
            "that it is shown", lambda said: said["type"] == "failed" and not said["layers"]
        )


@pytest.mark.parametrize("type_", ["image", "webpage"])
async def test_what_a_server_failed_to_give_is_shown_once_it_does(chromium: str, type_: str) -> None:
    given = media.serves(media.png(40, 40, BLUE), "image/png")
    # The layer's own request and the one that asks why
    late = {**MEDIA, "/late": media.back_after(2, given)}
    async with compositor(chromium, state(scene()), late) as page:
        # A page of the compositor's own origin is refused
        url = f"{page.agent.url}/late".replace("127.0.0.1", "localhost")
        await page.agent.send(state(scene(layer("a", type_, data={"media": {"url": url}, "url": url}))))
        assert await failure(page) == "HTTP 503"
        page.agent.said.clear()
        await page.agent.heard("shown", lambda said: said["type"] == "failed" and not said["layers"])

        async def shown() -> bool:
            return sum((await page.picture()).at(20, 20)) > 0

        await until(shown, "it is shown", 10)


async def test_a_picture_of_a_server_that_allows_no_other_origins_is_not_blamed_on_it(chromium: str) -> None:
    broken = {**MEDIA, "/text.png": media.serves(b"no picture", "image/png", anywhere=False)}
    async with compositor(chromium, state(scene()), broken) as page:
        url = f"{page.agent.url}/text.png".replace("127.0.0.1", "localhost")
        await page.agent.send(state(scene(layer("a", "image", data={"media": {"url": url}}))))
        assert await failure(page) == "it is no picture that can be shown"


async def test_a_server_that_does_not_answer_and_urls_of_other_kinds_are_told(chromium: str) -> None:
    async with compositor(chromium, state(scene()), MEDIA) as page:
        for version, url, reason in (
            (2, f"http://127.0.0.1:{free_port()}/", "its server is unreachable"),
            (3, "javascript:alert(1)", "the URL is not http or https"),
            (4, "", "it has no media.url"),
            (5, "file:///etc/passwd", "the URL is not http or https"),
        ):
            page.agent.said.clear()
            await page.change(
                version,
                {**image(page), "data": {"media": {"url": url}}},
                layer("root", "root", children=["a"]),
            )
            assert await failure(page) == reason


async def test_failures_are_told_again_to_an_agent_that_was_restarted(chromium: str) -> None:
    async with compositor(chromium, state(scene()), MEDIA) as page:
        await page.agent.send(state(scene(image(page, "missing.png"))))
        await failure(page)
        page.agent.said.clear()
        await page.agent.reconnected()
        assert await failure(page) == "HTTP 404"
        await page.agent.ready()


async def test_a_colour_that_css_does_not_know_is_told(chromium: str) -> None:
    async with compositor(chromium, state(scene(square("a", "url(http://x)")))) as page:
        assert await failure(page) == "not a CSS colour: url(http://x)"


async def stays_told(page: Compositor, reason: str) -> None:
    await page.agent.heard("the failure", lambda said: reason in str(said))
    await page.picture()
    assert reason in str(page.agent.said[-1])


async def none_fails(page: Compositor) -> None:
    page.agent.said.clear()
    await page.agent.send(state(scene(square("a", "red"), version=9)))
    await page.agent.heard("that it is shown", lambda said: said == {"type": "failed", "layers": []})


async def test_what_fails_at_once_in_the_place_of_another_type_is_told(chromium: str) -> None:
    async with compositor(chromium, state(scene(square("a", "no colour")))) as page:
        await page.change(2, layer("a", "image"))
        await stays_told(page, "it has no media.url")
        await page.change(3, square("a", "none either"))
        await stays_told(page, "not a CSS colour: none either")
        await none_fails(page)


async def test_what_fails_at_once_in_a_layout_of_another_size_is_told(chromium: str) -> None:
    async with compositor(chromium, state(scene(square("a", "no colour")))) as page:
        await page.agent.send(state(scene(square("a", "none either"), width=640, height=360, version=2)))
        await stays_told(page, "not a CSS colour: none either")
        await none_fails(page)


def text(words: object, style: object = None, **given: object) -> dict[str, Any]:
    return layer("a", "text", **{"data": {"text": words, "style": style}, **given})


async def test_text_is_never_markup(chromium: str) -> None:
    words = "<img src=x onerror='window.hit = 1'><b>bold</b>"
    async with compositor(chromium, state(scene(text(words)))) as page:
        assert await page.tab.evaluate("document.querySelector('.content').textContent") == words
        assert await page.tab.evaluate("window.hit ?? 0") == 0
        assert await page.tab.evaluate("document.querySelectorAll('.content b, .content img').length") == 0


async def test_text_is_styled_by_what_is_allowed_alone(chromium: str) -> None:
    style = {"backgroundColor": "yellow", "color": "rgb(0, 0, 255)", "fontSize": 60, "position": "fixed"}
    odd = {"backgroundImage": "url(http://x)", "fontFamily": "url(http://x)", "zIndex": 9, "color2": {}}
    async with compositor(chromium, state(scene(text("█", {**style, **odd}, width=100, height=80)))) as page:
        picture = await page.picture()
        assert same_box(picture.box(YELLOW), (0, 0, 100, 80))
        assert picture.box(BLUE) is not None
        assert (
            await page.tab.evaluate("getComputedStyle(document.querySelector('.content')).position")
            != "fixed"
        )
        assert "url" not in await page.tab.evaluate("document.querySelector('.content').outerHTML")


async def test_text_shrinks_until_it_fits_its_box(chromium: str) -> None:
    style = {"fontSize": 60, "fontFamily": "monospace"}
    async with compositor(chromium, state(scene(text("word " * 40, style, width=200, height=60)))) as page:
        size = "parseFloat(getComputedStyle(document.querySelector('.content > div')).fontSize)"
        small = await page.tab.until(f"{size} < 60 && {size}")
        box = (await page.picture()).box(WHITE)
        assert box is None or box[1] + box[3] <= 60
        await page.change(2, text("word", style, width=200, height=100))
        assert small < await page.tab.until(f"{size} === 60 && 60")


def webpage(page: Compositor, path: str, **given: Any) -> dict[str, Any]:
    """A layer with a page of another origin, as `localhost` is one."""
    url = f"http://localhost:{page.agent.port}{path}"
    return layer("a", "webpage", **{"data": {"url": url, **given.pop("data", {})}, **given})


PAGE = """<body style='margin: 0; background: red'><script>
try { top.location = '/'; } catch {}
try { alert(1); open('/'); } catch {}
document.body.style.background = 'green';
fetch('/loads');
</script>"""


async def test_a_page_is_shown_in_its_box_and_runs_its_scripts_there(chromium: str) -> None:
    async with compositor(chromium, state(scene()), {"/page": media.page(PAGE)}) as page:
        await page.agent.send(state(scene(webpage(page, "/page", x=20, width=100, height=50))))
        await page.tab.until("document.querySelector('iframe')")
        for _ in range(100):
            if same_box((picture := await page.picture()).box(GREEN), (20, 0, 100, 50)):
                break
        assert same_box(picture.box(GREEN), (20, 0, 100, 50))
        assert await page.tab.evaluate("location.pathname") == "/compositor/"


async def test_an_endless_page_stays_in_its_box_and_holds_nothing_up(chromium: str) -> None:
    async with compositor(chromium, state(scene()), {"/endless": media.endless}) as page:
        layers = [
            webpage(page, "/endless", width=100, height=50),
            square("b", "red", x=200, width=20, height=20),
        ]
        await page.agent.send(state(scene(*layers)))
        await page.tab.until("document.querySelector('iframe')")
        assert same_box((await page.picture()).box(RED), (200, 0, 20, 20))
        frame = "JSON.stringify(document.querySelector('iframe').getBoundingClientRect())"
        assert '"width":100,"height":50' in await page.tab.evaluate(frame)


async def test_a_page_of_the_compositors_own_origin_is_refused(chromium: str) -> None:
    async with compositor(chromium, state(scene()), {"/page": media.page(PAGE)}) as page:
        mine = layer("a", "webpage", data={"url": f"{page.agent.url}/page"})
        await page.agent.send(state(scene(mine)))
        assert await failure(page) == "the URL is of the compositor itself"


async def test_a_page_stays_loaded_while_hidden_where_it_says_so_alone(chromium: str) -> None:
    loads: list[str] = []

    async def count(request: web.Request) -> web.StreamResponse:
        loads.append(request.query["name"])
        return await media.page("<body style='background: green'>")(request)

    async with compositor(chromium, state(scene()), {"/page": count}) as page:

        def pair(**given: object) -> list[dict[str, Any]]:
            kept = {**webpage(page, "/page?name=kept", data={"mode": "keep-loaded"}, **given), "id": "kept"}
            return [kept, {**webpage(page, "/page?name=other", **given), "id": "other"}]

        await page.agent.send(state(scene(*pair(width=10, height=10))))
        await page.tab.until("document.querySelectorAll('iframe').length === 2")
        shown = "document.querySelector('[data-layer=other] iframe').src.includes('page')"
        await page.tab.until(shown)
        await page.change(2, *pair(width=10, height=10, hidden=True))
        await page.tab.until(f"!{shown}")
        assert "page" in await page.tab.evaluate("document.querySelector('[data-layer=kept] iframe').src")
        # Another order and another parent do not load a page again
        root = layer("root", "root", children=["group"])
        group = layer("group", "group", children=["other", "kept"])
        await page.change(3, root, group, *pair(width=10, height=10))
        await page.tab.until(shown)
        await page.picture()
        assert loads.count("kept") <= 3, "once by the frame, at most twice to see whether it is there"


async def test_debug_tells_what_fails_over_the_picture(chromium: str) -> None:
    async with compositor(chromium, state(scene(square("a", "no colour"))), query="&debug=true") as page:
        await page.tab.until("document.querySelector('.debug')?.textContent.includes('not a CSS colour')")
        await page.agent.send(state(scene(square("a", "red"))))
        assert await page.tab.evaluate("document.querySelectorAll('.debug').length") == 1
    async with compositor(chromium, state(scene(square("a", "red")), debug=True)) as page:
        await page.tab.until("document.querySelector('.debug')?.textContent.includes('layout one')")
        await page.agent.send(state(scene(square("a", "red"))))
        await page.tab.until("!document.querySelector('.debug')")


async def test_debug_tells_the_level_of_each_layer_over_the_picture(chromium: str) -> None:
    # Of their power, three decibels below their peaks, which are half and an eighth of full scale
    expected_db = {"loud": -6 - 3, "quiet": -18 - 3}
    clip = media.serves(media.webm(*[BLACK] * 10, rate=2, tone_hz=440, tone_peak=0.5), "video/webm")
    async with compositor(chromium, state(scene(), debug=True), {"/tone.webm": clip}) as page:
        sound = {"url": f"{page.agent.url}/tone.webm", "loop": True}
        await page.agent.send(
            state(
                scene(
                    layer("loud", "video", data={"media": sound | {"volume": 1}}, width=10, height=10),
                    layer("quiet", "video", data={"media": sound | {"volume": 0.25}}, width=10, height=10),
                ),
                debug=True,
            )
        )
        texts: list[str] = []

        async def is_told() -> bool:
            texts.append(await page.tab.evaluate("document.querySelector('.debug').textContent"))
            lines = [re.fullmatch(r"(\w+)  (-?[0-9.]+) dBFS", line) for line in texts[-1].splitlines()]
            told_db = {line[1]: float(line[2]) for line in lines if line}
            return told_db.keys() == expected_db.keys() and all(
                abs(told_db[id_] - db) < 1 for id_, db in expected_db.items()
            )

        await until(is_told, f"levels of {expected_db}", state=lambda: texts[-1])
