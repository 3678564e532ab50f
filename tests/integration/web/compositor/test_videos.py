"""Videos of layers and of stingers: when they play, what is seen of them, what is told where they fail."""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from tests.support.scene import media
from tests.support.scene.compositor import Compositor, compositor
from tests.support.scene.fake_agent import layer, scene, square, state
from tests.support.scene.picture import BLACK, Colour, Picture

pytestmark = pytest.mark.media

# What a codec makes of a colour is further from it than what a page does
RED, BLUE, YELLOW = (255, 0, 0), (0, 0, 255), (255, 255, 0)
CODEC = 24


def seen_through() -> bytes:
    """A video with sound that is transparent, but for a band."""
    video, sound = media.band_webm(YELLOW, 3, (160, 90), 30, 40), media.webm(RED, RED, RED, tone_hz=440)
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder, name) for name in ("video.webm", "sound.webm", "both.webm")]
        for path, content in zip(paths, (video, sound), strict=False):
            path.write_bytes(content)
        command = ["ffmpeg", "-loglevel", "error", "-nostdin", "-i", str(paths[0]), "-i", str(paths[1])]
        subprocess.run([*command, "-map", "0:v", "-map", "1:a", "-c", "copy", str(paths[2])], check=True)
        return paths[2].read_bytes()


MEDIA = media.Media(
    lambda: {
        "/clip.webm": media.serves(media.webm(RED, BLUE), "video/webm"),
        "/closed.webm": media.serves(media.webm(RED, BLUE), "video/webm", anywhere=False),
        "/bad.webm": media.serves(b"no video", "video/webm"),
        "/heard.webm": media.serves(media.webm(RED, BLUE, RED, BLUE, tone_hz=440), "video/webm"),
        "/seen-through.webm": media.serves(seen_through(), "video/webm"),
        "/missing.webm": media.missing,
        "/stinger.webm": media.serves(media.webm(YELLOW, BLACK, size=(320, 180)), "video/webm"),
    }
)
VIDEO = "document.querySelector('[data-layer=a] video')"


def near(picture: Picture, colour: Colour, x: int = 80, y: int = 45) -> bool:
    return all(abs(is_ - wanted) <= CODEC for is_, wanted in zip(picture.at(x, y), colour, strict=True))


async def shows(page: Compositor, colour: Colour) -> None:
    await page.shows(colour, CODEC)


def video(page: Compositor, name: str = "clip.webm", **given: Any) -> dict[str, Any]:
    data = {"media": {"url": f"{page.agent.url}/{name}", **given}}
    return layer("a", "video", data=data, width=160, height=90)


async def show(page: Compositor, *layers: dict[str, Any], **given: object) -> None:
    await page.agent.send(state(scene(*layers), **given))


async def test_a_video_plays_and_ends_on_its_last_frame(chromium: str) -> None:
    async with compositor(chromium, state(scene()), MEDIA) as page:
        await show(page, video(page))
        await page.tab.until(f"{VIDEO}?.currentTime > 0")
        await shows(page, RED)
        await page.tab.evaluate(f"{VIDEO}.currentTime = 1.8")
        await page.tab.until(f"{VIDEO}.ended")
        await shows(page, BLUE)


async def test_a_video_that_loops_begins_anew(chromium: str) -> None:
    async with compositor(chromium, state(scene()), MEDIA) as page:
        await show(page, video(page, loop=True))
        await page.tab.until(f"{VIDEO}?.currentTime > 0")
        await page.tab.evaluate(f"{VIDEO}.currentTime = 1.8")
        await page.tab.until(f"{VIDEO}.currentTime < 1 && !{VIDEO}.seeking")
        await shows(page, RED)


async def test_a_video_of_another_layout_is_loaded_ahead_and_begins_when_that_goes_on_air(
    chromium: str,
) -> None:
    async with compositor(chromium, state(scene()), MEDIA) as page:
        layouts = [scene(square("below", "white"), id="two"), scene(video(page))]
        await page.agent.send(state(*layouts))
        await page.tab.until(f"{VIDEO}?.readyState >= 3")
        await page.tab.until(f"{VIDEO}.paused && {VIDEO}.currentTime === 0")
        await page.agent.send(state(*layouts, selectedLayoutId="one"))
        await page.tab.until(f"{VIDEO}.currentTime > 0")
        await page.agent.send(state(*layouts, selectedLayoutId="two"))
        await page.tab.until(f"{VIDEO}.paused && {VIDEO}.currentTime === 0")


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("missing.webm", "HTTP 404"),
        ("bad.webm", "it is no video that can be played"),
        ("closed.webm", "its server allows no other origins (CORS)"),
    ],
)
async def test_a_video_that_cannot_be_played_is_told(chromium: str, name: str, reason: str) -> None:
    async with compositor(chromium, state(scene()), MEDIA) as page:
        shown = video(page, name)
        url = shown["data"]["media"]["url"]
        # Of another origin than the page, as a `localhost` is
        shown["data"]["media"]["url"] = url.replace("127.0.0.1", "localhost")
        await show(page, shown, square("b", "blue", x=200))
        told = await page.agent.heard("a failure", lambda said: said["type"] == "failed" and said["layers"])
        assert told["layers"] == [{"layoutId": "one", "layerId": "a", "reason": reason}]
        assert near(await page.picture(), BLUE, 250)


async def test_a_video_of_a_server_that_was_away_is_played_once_it_is_back(chromium: str) -> None:
    late = {"/clip.webm": media.back_after(2, MEDIA["/clip.webm"])}
    async with compositor(chromium, state(scene()), {**MEDIA, **late}) as page:
        await show(page, video(page))
        await page.agent.heard("a failure", lambda said: said["type"] == "failed" and said["layers"])
        await page.tab.until(f"{VIDEO}?.currentTime > 0")
        await page.agent.heard("shown", lambda said: said["type"] == "failed" and not said["layers"])


@pytest.mark.parametrize(
    ("url", "reason"), [("", "it has no media.url"), ("htp://x", "the URL is not http or https")]
)
async def test_a_video_whose_url_is_taken_away_ends_and_is_told_until_it_has_another(
    chromium: str, url: str, reason: str
) -> None:
    async with compositor(chromium, state(scene()), MEDIA) as page:
        shown = video(page, loop=True)
        await show(page, shown)
        await page.tab.until(f"{VIDEO}?.currentTime > 0")
        await page.change(2, shown | {"data": {"media": {"url": url, "loop": True}}})
        await page.tab.until(f"{VIDEO}.readyState === 0 && {VIDEO}.paused")
        await shows(page, BLACK)
        told = [said["layers"] for said in page.agent.said if said["type"] == "failed"][-1]
        assert told == [{"layoutId": "one", "layerId": "a", "reason": reason}]
        await page.change(3, shown)
        await page.tab.until(f"{VIDEO}.currentTime > 0")
        await page.agent.heard("shown", lambda said: said["type"] == "failed" and not said["layers"])


async def test_a_video_that_can_be_played_while_it_loses_its_url_stays_told(chromium: str) -> None:
    async with compositor(chromium, state(scene()), MEDIA) as page:
        shown = video(page)
        await show(page, shown)
        await page.tab.until(f"{VIDEO}?.currentTime > 0")
        await page.change(2, shown | {"data": {}})
        # As after a seek, which each round of a loop is
        await page.tab.evaluate(f"{VIDEO}.dispatchEvent(new Event('canplay'))")
        await page.tab.until(f"{VIDEO}.readyState === 0")
        await page.picture()
        told = [said["layers"] for said in page.agent.said if said["type"] == "failed"][-1]
        assert [each["reason"] for each in told] == ["it has no media.url"]


def stung(page: Compositor, name: str, cut_point_ms: int) -> list[dict[str, Any]]:
    url = f"{page.agent.url}/{name}"
    stinger = {"cut": {"cutPointMs": cut_point_ms, "media": {"url": url, "volume": 0.5}}}
    coming = scene(square("b", "blue"), id="two", transitions=[{"fromLayoutIds": [], "stinger": stinger}])
    return [scene(square("a", "red")), coming]


STINGER = "document.querySelector('.cover video')"
SHOWN = "document.querySelector('.scene.shown').dataset.layout"


async def with_stinger(page: Compositor) -> list[dict[str, Any]]:
    """Begins one over the switch from the first to the second of two layouts, which it returns."""
    layouts = stung(page, "stinger.webm", 1000)
    await page.agent.send(state(*layouts))
    await page.stinger_loaded()
    await page.agent.send(state(*layouts, selectedLayoutId="two"))
    await page.tab.until(STINGER)
    return layouts


async def test_a_stinger_covers_the_cut_that_its_own_time_makes(chromium: str) -> None:
    async with compositor(chromium, state(scene()), MEDIA) as page:
        await with_stinger(page)
        await page.tab.evaluate(f"{STINGER}.pause()")
        for at_s, layout in ((0, "one"), (0.5, "one"), (0.9, "one"), (1.1, "two"), (1.5, "two")):
            await page.tab.evaluate(
                f"new Promise(done => {{ {STINGER}.requestVideoFrameCallback(done);"
                f" {STINGER}.currentTime = {at_s} || 0.001; }})"
            )
            assert await page.tab.evaluate(SHOWN) == layout, at_s
            assert near(await page.picture(), YELLOW if at_s < 1 else BLACK)
        await page.tab.evaluate(f"{STINGER}.play()")
        await page.tab.until(f"!{STINGER}")
        await shows(page, BLUE)


async def test_a_stinger_that_its_server_failed_to_give_is_loaded_again(chromium: str) -> None:
    asked = 0

    async def late(request: web.Request) -> web.StreamResponse:
        nonlocal asked
        asked += 1
        if asked == 1:
            raise web.HTTPServiceUnavailable
        return await MEDIA["/stinger.webm"](request)

    async with compositor(chromium, state(scene()), {**MEDIA, "/late.webm": late}) as page:
        layouts = stung(page, "late.webm", 1000)
        await page.agent.send(state(*layouts))
        await page.tab.until(f"{SHOWN} === 'one'")
        await page.stinger_loaded()
        assert asked > 1
        await page.agent.send(state(*layouts, selectedLayoutId="two"))
        await page.tab.until(STINGER)


REWINDS_SLOWLY = f"""{STINGER}.addEventListener('seeking', ({{target}}) => {{
  Object.defineProperty(target, 'seeking', {{value: true, configurable: true}});
  Object.defineProperty(target, 'readyState', {{value: 1, configurable: true}});
  window.rewinding = target;
}}, {{once: true}})"""
"""As on a busy machine, which decodes its first frame late."""
NOTES_STINGERS = f"""new MutationObserver(() => {{ window.came ??= {STINGER}; }})
  .observe(document.body, {{childList: true, subtree: true}})"""


async def test_a_stinger_that_still_goes_back_to_its_beginning_is_played_again(chromium: str) -> None:
    async with compositor(chromium, state(scene()), MEDIA) as page:
        layouts = await with_stinger(page)
        await page.tab.evaluate(REWINDS_SLOWLY)
        await page.tab.until("window.rewinding")
        await page.agent.send(state(*layouts))
        await page.tab.until(f"{SHOWN} === 'one'")
        await page.tab.evaluate(NOTES_STINGERS)
        await page.agent.send(state(*layouts, selectedLayoutId="two"))
        await page.tab.until(f"{SHOWN} === 'two'")
        assert await page.tab.evaluate("window.came === window.rewinding"), "it was a cut"
        await page.tab.until(f"!{STINGER}")
        await shows(page, BLUE)


async def test_a_stinger_that_cannot_be_played_is_a_cut(chromium: str) -> None:
    async with compositor(chromium, state(scene()), MEDIA) as page:
        layouts = stung(page, "missing.webm", 1000)
        await page.agent.send(state(*layouts))
        await page.tab.until(f"{SHOWN} === 'one'")
        await page.agent.send(state(*layouts, selectedLayoutId="two"))
        await page.tab.until(f"{SHOWN} === 'two'")
        await shows(page, BLUE)


async def test_frames_of_a_video_are_held_while_it_is_heard_unless_it_is_seen_through(chromium: str) -> None:
    """Held ones are shown by an element of their own, over the video's."""
    elements = "document.querySelectorAll('[data-layer=a] video').length"
    async with compositor(chromium, state(scene()), MEDIA) as page:
        versions = ((0, 1), (1, 2), (0, 1), (0.5, 2))
        for version, (volume, wanted) in enumerate(versions, 2):
            layers = video(page, "heard.webm", volume=volume, loop=True)
            await page.agent.send(state(scene(layers, version=version)))
            await page.tab.until(f"{VIDEO}?.currentTime > 0 && {elements} === {wanted}")
        await page.agent.send(state(scene(video(page, "seen-through.webm", loop=True), version=9)))
        await page.tab.until(f"{VIDEO}.currentSrc.endsWith('seen-through.webm') && {VIDEO}.currentTime > 0.5")
        assert await page.tab.evaluate(f"{VIDEO}.webkitAudioDecodedByteCount") > 0
        assert await page.tab.evaluate(elements) == 1
