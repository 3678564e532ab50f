"""When the page is ready, what that takes, and what it costs to stand still."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from tests.support.control_plane import free_port
from tests.support.cut_proxy import CutProxy, cut_proxy
from tests.support.delivery.livekit_server import LiveKitServer
from tests.support.rooms.member import member
from tests.support.scene import media
from tests.support.scene.browser import Tab, tab
from tests.support.scene.compositor import Compositor, compositor
from tests.support.scene.fake_agent import FakeAgent, layer, scene, square, state
from tests.support.scene.live_source import LiveSource
from tests.support.scene.picture import BLUE, GREEN, RED, Colour, Picture

pytestmark = pytest.mark.media
READY_MS = 400
"""The bound; tests have twice of it."""
NOTE = "document.addEventListener('onair:ready', () => { window.readyMs = performance.now(); });"
BIG = media.serves(media.png(1920, 1080, RED), "image/png", cached=True)
CODEC = 32
"""What a codec makes of a colour is further from it than what a page does."""
HELD_MS, GIVEN_UP_MS = 1000, 8000
GUEST = (16, 160, 48)


@pytest.fixture
def server(tmp_path: Path) -> Iterator[LiveKitServer]:
    with LiveKitServer(tmp_path) as running:
        yield running


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


def is_ready(agent: FakeAgent) -> bool:
    return any(said["type"] == "ready" for said in agent.said)


async def test_readiness_waits_for_images(chromium: str) -> None:
    """A show begins without them only where its agent has waited long enough."""
    port, asked, given = free_port(), asyncio.Event(), asyncio.Event()

    async def late(request: web.Request) -> web.StreamResponse:
        asked.set()
        await given.wait()
        return await BIG(request)

    agent = FakeAgent(state(scene(square("below", "blue"), *images(port))), {"/big.png": late}, port)
    async with agent.serving(), tab(chromium, f"{agent.url}/compositor/?at=token", 320, 180) as page:
        async with asyncio.timeout(10):
            await asked.wait()
        await page.until("performance.now() > 1000 && document.querySelector('[data-layout=one]')")
        assert not is_ready(agent)
        given.set()
        await agent.ready()
        assert (await page.picture()).has(20, 10, RED)


async def test_an_image_that_never_comes_is_given_up_after_eight_seconds(chromium: str) -> None:
    port, asked, ended = free_port(), asyncio.Event(), asyncio.Event()

    async def never(_: web.Request) -> web.StreamResponse:
        asked.set()
        await ended.wait()
        raise web.HTTPServiceUnavailable

    agent = FakeAgent(state(scene(square("below", "blue"), *images(port))), {"/big.png": never}, port)
    url = f"{agent.url}/compositor/?at=token"
    async with agent.serving(), tab(chromium, url, 320, 180, NOTE) as page:
        async with asyncio.timeout(10):
            await asked.wait()
        asked_ms = await page.evaluate("performance.now()")
        await agent.ready()
        waited_ms = await page.until("window.readyMs") - asked_ms
        ended.set()
        assert 7_000 < waited_ms < 10_000, waited_ms
        assert (await page.picture()).box(BLUE) == (0, 0, 320, 180)


async def test_readiness_waits_for_the_first_picture_of_a_source(chromium: str) -> None:
    cam = LiveSource(GREEN, published=False)
    data = {"source": {"id": "cam"}}
    first = state(scene(square("below", "blue"), layer("a", "source", width=160, height=90, data=data)))
    agent = FakeAgent(first, {"/sources/cam": cam.serve()})
    async with agent.serving(), tab(chromium, f"{agent.url}/compositor/?at=token", 320, 180) as page:
        await agent.heard("that it is away", lambda said: "the source is not connected" in str(said))
        assert not is_ready(agent)
        cam.published = True
        await agent.ready()
        assert not (await page.picture()).has(80, 45, (0, 0, 255))


def assert_seen(picture: Picture, x: int, y: int, colour: Colour) -> None:
    off = [abs(is_ - wanted) for is_, wanted in zip(picture.at(x, y), colour, strict=True)]
    assert max(off) <= CODEC, picture.at(x, y)


async def test_readiness_waits_for_a_video_that_its_server_holds_back(chromium: str) -> None:
    port, asked, given = free_port(), asyncio.Event(), asyncio.Event()
    clip = media.serves(media.webm(RED), "video/webm")

    async def late(request: web.Request) -> web.StreamResponse:
        asked.set()
        await given.wait()
        return await clip(request)

    data = {"media": {"url": f"http://127.0.0.1:{port}/clip.webm"}}
    layers = square("below", "blue"), layer("a", "video", width=160, height=90, data=data)
    agent = FakeAgent(state(scene(*layers)), {"/clip.webm": late}, port)
    url = f"{agent.url}/compositor/?at=token"
    async with agent.serving(), tab(chromium, url, 320, 180, NOTE) as page:
        async with asyncio.timeout(10):
            await asked.wait()
        asked_ms = await page.evaluate("performance.now()")
        await page.until(f"performance.now() > {asked_ms + HELD_MS}")
        assert not is_ready(agent)
        given.set()
        await agent.ready()
        picture = await page.picture()
        assert_seen(picture, 80, 45, RED)
        assert picture.has(240, 45, BLUE)
        assert await page.until("window.readyMs") - asked_ms < GIVEN_UP_MS - 1000


@contextlib.asynccontextmanager
async def behind_silence(
    chromium: str, server: LiveKitServer, identity: str
) -> AsyncIterator[tuple[FakeAgent, Tab, CutProxy, float]]:
    """Opens a page with a guest in its first layout, whose room's server responds once it is let through.

    Somebody with this identity is in the room. The last that is yielded is when the page drew the layout.
    """
    rights: dict[str, Any] = {"hidden": True, "canPublish": False, "canSubscribe": True}
    token = server.token("show", "renderer-1", **rights)
    data = {"webrtc": {"id": "guest", "type": "webcam"}}
    layers = square("below", "blue"), layer("a", "webrtc", width=160, height=90, data=data)
    async with (
        cut_proxy(server.port) as signalling,
        member(server.url, server.token("show", identity, canPublish=True)) as joined,
    ):
        await joined.publish_colour(GUEST)
        signalling.hold()
        room = {"url": f"ws://127.0.0.1:{signalling.port}", "token": token}
        agent = FakeAgent(state(scene(*layers), room=room), {})
        url = f"{agent.url}/compositor/?at=token"
        async with agent.serving(), tab(chromium, url, 320, 180, NOTE) as page:
            drawn = "document.querySelector('[data-layout=one]')"
            drawn_ms = await page.until(f"{drawn} && performance.now()")
            async with asyncio.timeout(10):
                await signalling.used.wait()
            yield agent, page, signalling, drawn_ms


@pytest.mark.parametrize(("identity", "colour"), [("guest", GUEST), ("other", BLUE)])
async def test_readiness_waits_for_the_room_and_for_the_guest_who_is_there(
    chromium: str, server: LiveKitServer, identity: str, colour: Colour
) -> None:
    async with behind_silence(chromium, server, identity) as (agent, page, signalling, drawn_ms):
        asked_ms = await page.evaluate("performance.now()")
        await page.until(f"performance.now() > {asked_ms + HELD_MS}")
        assert not is_ready(agent)
        signalling.let_through()
        await agent.ready()
        assert_seen(await page.picture(), 80, 45, colour)
        assert await page.until("window.readyMs") - drawn_ms < GIVEN_UP_MS - 1000


async def test_a_room_whose_server_is_silent_is_given_up_after_eight_seconds(
    chromium: str, server: LiveKitServer
) -> None:
    async with behind_silence(chromium, server, "guest") as (agent, page, signalling, drawn_ms):
        await agent.ready()
        waited_ms = await page.until("window.readyMs") - drawn_ms
        assert 7_000 < waited_ms < 10_000, waited_ms
        assert (await page.picture()).box(BLUE) == (0, 0, 320, 180)
        signalling.let_through()
        await Compositor(agent, page).shows(GUEST, CODEC)


async def test_readiness_waits_until_it_is_known_whether_there_is_a_room(chromium: str) -> None:
    layout = scene(layer("a", "webrtc", data={"webrtc": {"id": "guest", "type": "webcam"}}))
    agent = FakeAgent(state(layout, roomKnown=False), {})
    async with agent.serving(), tab(chromium, f"{agent.url}/compositor/?at=token", 320, 180):
        await agent.heard("what it waits for", lambda said: "the room is being joined" in str(said))
        assert not is_ready(agent)
        await agent.send(state(layout))
        await agent.ready()


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
