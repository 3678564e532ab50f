"""A page of the studio finds the project's sources as cameras and microphones, in a real browser."""

from __future__ import annotations

import contextlib
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
from aiohttp import web
from tests.support.loopback_server import on_loopback
from tests.support.scene.browser import Tab, tab
from tests.support.scene.live_source import RATE, LiveSource, scripts
from tests.support.scene.media import ANYWHERE
from tests.support.waiting import until

from onair_encoder.studio.page_script import studio_script

pytestmark = pytest.mark.media

CAM, SECOND = "source-cam", "source-two"
RED, BLUE = (255, 0, 0), (0, 0, 255)
CODEC = 24
LISTED = "devices().then(all => all.map(each => `${each.kind} ${each.label}`))"
PAGE = """<!doctype html><meta http-equiv="Content-Security-Policy"
  content="default-src 'none'; script-src 'unsafe-inline' 'unsafe-eval'; frame-src 'self'">
<body><iframe src="/frame"></iframe><script>
let changes = 0, ended = [];
navigator.mediaDevices.addEventListener('devicechange', () => changes++);
const devices = () => navigator.mediaDevices.enumerateDevices();
const found = async (kind, label) =>
  (await devices()).find(each => each.kind === kind && each.label === label);
/** As the public page does on `source.connect`. */
async function show(id) {
  const camera = await found('videoinput', id), microphone = await found('audioinput', `Monitor of ${id}`);
  const stream = await navigator.mediaDevices.getUserMedia({
    video: {deviceId: {exact: camera.deviceId}, width: 999999, height: 999999},
    audio: {deviceId: microphone.deviceId, channelCount: 2, echoCancellation: false, autoGainControl: false},
  });
  for (const track of stream.getTracks()) track.onended = () => ended.push(track.kind);
  const video = document.createElement('video');
  Object.assign(video, {autoplay: true, muted: true, srcObject: stream});
  document.body.append(video);
  await new Promise(resolve => video.requestVideoFrameCallback(resolve));
  return {stream, video};
}
function pixel(video) {
  const canvas = new OffscreenCanvas(2, 2), context = canvas.getContext('2d');
  context.drawImage(video, 0, 0, 2, 2);
  return [...context.getImageData(0, 0, 1, 1).data].slice(0, 3);
}
async function loudness(stream) {
  const context = new AudioContext({sampleRate: 48000}), analyser = new AnalyserNode(context);
  context.createMediaStreamSource(stream).connect(analyser);
  const samples = new Float32Array(analyser.fftSize);
  for (let tries = 0; tries < 100; tries++) {
    await new Promise(resolve => setTimeout(resolve, 50));
    analyser.getFloatTimeDomainData(samples);
    const peak = Math.max(...samples);
    if (peak > 0.4) return peak;
  }
  return Math.max(...samples);
}
</script>"""


class FakeStudioAgent:
    """What an agent serves to a page of the studio."""

    def __init__(self, *connected: str) -> None:
        self.sources = {CAM: LiveSource(RED), SECOND: LiveSource(BLUE)}
        self.connected = set(connected)
        self.url = ""
        self.failing_loads = 0
        """Of the script of sources."""
        self._pages: set[web.WebSocketResponse] = set()

    async def engine(self, request: web.Request) -> web.StreamResponse:
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        sources = [{"id": id_, "connected": True} for id_ in sorted(self.connected)]
        await socket.send_json({"name": "state", "payload": {"destinations": [], "sources": sources}})
        self._pages.add(socket)
        async for _ in socket:
            pass
        self._pages.discard(socket)
        return socket

    async def connect(self, id_: str) -> None:
        self.connected.add(id_)
        await self._tell("source.connect", id_)

    async def disconnect(self, id_: str) -> None:
        self.connected.discard(id_)
        await self._tell("source.disconnect", id_)

    async def _tell(self, name: str, id_: str) -> None:
        for page in list(self._pages):
            await page.send_json({"name": name, "payload": {"id": id_}})

    def _later(self, handler: Any) -> Any:
        async def serve(request: web.Request) -> Any:
            if self.failing_loads:
                self.failing_loads -= 1
                raise web.HTTPServiceUnavailable
            return await handler(request)

        return serve

    async def drop(self) -> None:
        for page in list(self._pages):
            await page.close()

    @contextlib.asynccontextmanager
    async def serving(self) -> AsyncIterator[FakeStudioAgent]:
        app = web.Application()
        for path, handler in scripts().items():
            app.router.add_get(path, self._later(handler) if path.endswith("/source.js") else handler)
        for id_, source in self.sources.items():
            app.router.add_get(f"/sources/{id_}", source.serve())
        app.router.add_get("/engine", self.engine)
        app.router.add_get("/", page(PAGE))
        app.router.add_get("/frame", page("<!doctype html>framed"))
        async with on_loopback(app) as self.url:
            yield self


def page(text: str) -> Any:
    async def serve(_: web.Request) -> web.StreamResponse:
        return web.Response(text=text, content_type="text/html", headers=ANYWHERE)

    return serve


@contextlib.asynccontextmanager
async def opened(
    chromium: str, *connected: str, origin: str | None = None
) -> AsyncIterator[tuple[FakeStudioAgent, Tab]]:
    async with FakeStudioAgent(*connected).serving() as agent:
        engine = f"{agent.url.replace('http', 'ws')}/engine"
        script = studio_script(origin or agent.url, [], agent.url, engine)
        async with tab(chromium, "about:blank", 320, 180, script) as page:
            await page.call("Page.setBypassCSP", enabled=True)
            await page.call("Page.navigate", url=agent.url)
            await page.until("document.readyState === 'complete' && typeof devices === 'function'")
            yield agent, page


def near(colour: list[int], wanted: tuple[int, int, int]) -> bool:
    return all(abs(is_ - to) <= CODEC for is_, to in zip(colour, wanted, strict=True))


async def test_a_source_is_a_camera_and_a_microphone_and_gone_and_back_with_its_publisher(
    chromium: str,
) -> None:
    async with opened(chromium, CAM) as (agent, page):
        assert await page.evaluate(LISTED) == [f"videoinput {CAM}", f"audioinput Monitor of {CAM}"]
        asked = "navigator.permissions.query({name: 'camera'}).then(({state}) => state)"
        assert await page.evaluate(asked) == "granted"
        first = await page.evaluate("devices().then(all => JSON.stringify(all[0]))")
        assert json.loads(first)["groupId"] == CAM
        await page.evaluate(f"show('{CAM}').then(shown => window.cam = shown, String)")
        assert near(await page.evaluate("pixel(cam.video)"), RED)
        assert await page.evaluate("loudness(cam.stream)") > 0.4
        names = "cam.stream.getTracks().map(track => [track.kind, track.label, track.getSettings().deviceId])"
        first_device = (await page.evaluate(names))[1]
        assert first_device == ["video", CAM, json.loads(first)["deviceId"]]
        assert await page.evaluate("cam.stream.getVideoTracks()[0].getSettings().width") == 320

        # The page asks at the very moment it hears of a source
        agent.connected.add(SECOND)
        assert f"videoinput {SECOND}" in await page.evaluate(LISTED)
        await page.evaluate(f"show('{SECOND}').then(shown => window.second = shown, String)")
        assert near(await page.evaluate("pixel(second.video)"), BLUE)

        changes = await page.evaluate("changes")
        await agent.disconnect(CAM)
        await page.until("ended.length === 2")
        states = "cam.stream.getTracks().map(track => track.readyState)"
        assert await page.evaluate(states) == ["ended", "ended"]
        assert f"videoinput {CAM}" not in await page.evaluate(LISTED)
        assert await page.evaluate("second.stream.active")
        await left(agent.sources[CAM])

        await agent.connect(CAM)
        await page.until(f"changes >= {changes + 2}")
        await page.evaluate(f"show('{CAM}').then(shown => window.cam = shown, String)")
        assert near(await page.evaluate("pixel(cam.video)"), RED)


async def left(source: LiveSource) -> None:
    """Waits until nobody reads a source."""
    await until(lambda: not source.readers, "nobody reads it", 5, state=lambda: f"{source.readers} readers")


async def test_a_source_is_decoded_once_and_while_a_track_of_it_is_taken_alone(chromium: str) -> None:
    async with opened(chromium, CAM) as (agent, page):
        assert agent.sources[CAM].readers == 0
        await page.evaluate(f"Promise.all([show('{CAM}'), show('{CAM}')]).then(both => window.both = both)")
        await page.evaluate("window.copy = both[0].stream.clone(); 0")
        assert agent.sources[CAM].readers == 1
        await page.evaluate("both.forEach(each => each.stream.getTracks().forEach(track => track.stop()))")
        await page.evaluate("both[0].video.srcObject = copy; 0")
        # Longer than a source that nobody takes goes on
        await page.until(f"both[0].video.getVideoPlaybackQuality().totalVideoFrames > {3 * RATE}")
        assert near(await page.evaluate("pixel(both[0].video)"), RED)
        assert agent.sources[CAM].readers == 1, "a clone is taken"
        await page.evaluate("copy.getTracks().forEach(track => track.stop())")
        await left(agent.sources[CAM])


async def test_an_agent_that_restarts_takes_no_source_away(chromium: str) -> None:
    async with opened(chromium, CAM) as (agent, page):
        await page.evaluate(f"show('{CAM}').then(shown => window.cam = shown, String)")
        await agent.drop()
        agent.connected.add(SECOND)
        await page.until("changes >= 2")
        assert await page.evaluate("[ended.length, cam.stream.active]") == [0, True]


@pytest.mark.parametrize(
    ("constraints", "refusal"),
    [
        ("{video: {deviceId: {exact: 'none'}}}", "OverconstrainedError"),
        ("{}", "TypeError"),
        ("{audio: {groupId: {exact: ['none', 'source-cam']}}, video: {deviceId: 'none'}}", None),
        ("{video: true}", None),
    ],
)
async def test_constraints_choose_among_sources(chromium: str, constraints: str, refusal: str | None) -> None:
    async with opened(chromium, CAM) as (_, page):
        asked = f"navigator.mediaDevices.getUserMedia({constraints})"
        assert await page.evaluate(f"{asked}.then(() => null, error => error.name)") == refusal


async def test_a_source_can_be_opened_once_its_script_can_be_loaded_again(chromium: str) -> None:
    asked = "navigator.mediaDevices.getUserMedia({video: true}).then(() => null, error => error.name)"
    async with opened(chromium, CAM) as (agent, page):
        agent.failing_loads = 2
        found = [await page.evaluate(asked) for _ in range(3)]
        assert found == ["NotReadableError", "NotReadableError", None]


async def test_without_a_source_there_is_no_device(chromium: str) -> None:
    async with opened(chromium) as (_, page):
        assert await page.evaluate(LISTED) == []
        asked = "navigator.mediaDevices.getUserMedia({video: true})"
        assert await page.evaluate(f"{asked}.catch(error => error.name)") == "NotFoundError"


async def test_frames_and_pages_of_elsewhere_get_nothing(chromium: str) -> None:
    async with opened(chromium, CAM, origin="https://studio.example.org") as (_, page):
        native = "/native code/.test(navigator.mediaDevices.enumerateDevices)"
        assert await page.evaluate(native)
    async with opened(chromium, CAM) as (_, page):
        assert not await page.evaluate(native)
        framed = "document.querySelector('iframe').contentWindow.navigator.mediaDevices.enumerateDevices"
        assert await page.evaluate(f"/native code/.test({framed})")
