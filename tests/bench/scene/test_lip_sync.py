"""Measures how far the audio of videos and guests is from their pictures, at the far end."""

from __future__ import annotations

import asyncio
import json
import statistics
from collections.abc import Callable
from pathlib import Path

from tests.support.delivery.browser_page import browser_page
from tests.support.delivery.livekit_server import client_script
from tests.support.ingest.clip import mp4_of
from tests.support.media import boxes, painted, probe
from tests.support.media.boxes import Box
from tests.support.pages import site
from tests.support.rooms.member import member
from tests.support.scene.bench_stage import BenchStage

from onair_crds.shapes import JsonObject

SETTLE_S, WATCH_S, PART = 15.0, 24.0, 90
"""A room keeps audio and video together some seconds after it was joined; frames that give an offset each."""
CLIP_S, JOINED_S = 60.0, 40.0
AV_BOUND_MS = 40.0
PLACE = {"x": 0, "y": 0, "width": 640, "height": 480}
BOX = Box(0, 0, 640)
CAMERA = 640, 480, 20
CLICKING = Path(boxes.__file__).parents[1] / "rooms/clicking.html"


def webcam(name: str) -> JsonObject:
    return {"type": "webrtc", **PLACE, "data": {"webrtc": {"id": name, "type": "webcam", "volume": 1}}}


async def measure(
    stage: BenchStage, layer: JsonObject, folder: Path, report: Callable[..., float], name: str
) -> float:
    """Puts a layer on air; returns the median of audio minus video in ms, without its sign."""
    scene = await asyncio.to_thread(stage.air.scene, layer=layer)
    await asyncio.to_thread(stage.air.select, scene)
    await asyncio.sleep(SETTLE_S)
    recording = (await asyncio.to_thread(probe.record, stage.url, WATCH_S, folder)).path
    times_s, clicks_s = boxes.frame_times_s(recording), boxes.click_times_s(recording)
    clock = boxes.clock_of(recording, BOX)
    found = []
    for begin in range(0, len(clock) - PART, PART):
        part = slice(begin, begin + PART)
        heard = [at for at in clicks_s if times_s[begin] < at < times_s[begin + PART - 1]]
        found.append(painted.av_distance_ms(heard, times_s[part], clock[part]))
    known = [each for each in found if each is not None]
    assert known, f"{name} is not heard"
    report(f"A/V offset of {name}", known, "ms")
    return abs(statistics.median(known))


async def test_audio_beside_what_is_seen(
    stage: BenchStage, clip: Path, tmp_path: Path, report: Callable[..., float]
) -> None:
    air = stage.air

    async def token(name: str) -> str:
        return await asyncio.to_thread(lambda: air.room_token(air.guest(name), name))

    worst = []
    with site({"/clip.mp4": ("video/mp4", await asyncio.to_thread(mp4_of, clip, CLIP_S))}) as address:
        box = PLACE | {"height": 360}
        video: JsonObject = {"media": {"url": f"{address}/clip.mp4", "loop": True}}
        layer = {"type": "video", **box, "data": video}
        worst.append(await measure(stage, layer, tmp_path, report, "a video"))
    async with member(air.signal_url, await token("anna"), subscribe=False, insist_s=JOINED_S) as guest:
        await guest.publish_clicks(*CAMERA)
        worst.append(await measure(stage, webcam("anna"), tmp_path, report, "a guest by a native client"))
    settings = json.dumps({"url": air.signal_url, "token": await token("ben")})
    client = f"{await asyncio.to_thread(client_script)}\nconst SETTINGS = {settings};"
    async with browser_page(
        CLICKING.read_text(), {"/client.js": client}, "--autoplay-policy=no-user-gesture-required"
    ) as joined:
        await joined.until("published", lambda report: report["state"] == "published", JOINED_S)
        worst.append(await measure(stage, webcam("ben"), tmp_path, report, "a guest by a browser"))
    largest = report("largest A/V offset of a video or a guest", [max(worst)], "ms", AV_BOUND_MS)
    assert largest < AV_BOUND_MS * 2
