"""Measures a whole show: sources, guests, a picture, words and a page, switched by several transitions."""

from __future__ import annotations

import asyncio
import base64
import statistics
import threading
import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import pytest
from tests.support.cluster import PAGES, SYSTEM, LocalCluster, address
from tests.support.ingest.clip import Encoding, make_clip
from tests.support.media import boxes, painted, probe
from tests.support.media.boxes import Box
from tests.support.pages import site
from tests.support.receiver import RTMP, Receiver
from tests.support.rooms.participant import participant
from tests.support.scene import media
from tests.support.scene.live_scene import LiveLayout, LiveScene, pushed
from tests.support.shows import FacadeClient, LiveShow

from onair_crds.shapes import JsonObject

CLIP_S = 150.0
EMPTY_S, STAY_S, SETTLE_S = 20.0, 7.0, 2.5
"""Seconds of the empty page; between switches; after a switch that do not count, as clocks move."""
ROUNDS = 2
MISSED_BOUND, AV_BOUND_MS = 0.5, 40.0
"""Percent of frames beyond those of the empty page; audio minus video of each source."""
TICKER = Path(__file__).parents[2] / "support/scene/ticker.html"
HALF = 640
"""Width of a source and of the ticker, on the layout's 1280."""
CANVAS = {"width": 1280, "height": 720}
BEYOND = [{"crossfade": {"durationMs": 800}}, {"swipe": {"durationMs": 800}}]


class Stage(NamedTuple):
    layouts: list[LiveLayout]
    empty: LiveLayout


class Window(NamedTuple):
    """Frames between two switches, without the transition; and which source is heard in it."""

    frames: slice
    heard: int


def build(scene: LiveScene, sources: list[str], guests: list[str], files_at: str) -> Stage:
    """Three layouts of the same elements in the same places; another source is heard in the second."""
    ticker: JsonObject = {
        "type": "webpage",
        "x": 0,
        "y": 360,
        "width": HALF,
        "height": 60,
        "data": {"url": f"{files_at}/ticker", "mode": "keep-loaded"},
    }
    words = {"text": "Good evening", "style": {"fontSize": 40}}
    backdrop: JsonObject = {"type": "image", "data": {"media": {"url": f"{PAGES}/stage.svg"}}}
    stinger = {"cut": {"cutPointMs": 500, "media": {"url": f"{files_at}/stinger.webm", "volume": 0}}}
    ways: list[JsonObject] = [{"stinger": stinger}, *BEYOND]
    layouts = []
    for number, way in enumerate(ways):
        shown: list[JsonObject] = [
            {
                "type": "source",
                "x": HALF * at,
                "y": 0,
                "width": HALF,
                "height": 360,
                "data": {"source": {"id": id_, "volume": float(at == number % 2)}},
            }
            for at, id_ in enumerate(sources)
        ]
        shown += [
            {
                "type": "webrtc",
                "x": HALF + 320 * at,
                "y": 400,
                "width": 320,
                "height": 240,
                "data": {"webrtc": {"id": id_, "type": "webcam", "volume": 0}},
            }
            for at, id_ in enumerate(guests)
        ]
        text: JsonObject = {"type": "text", "x": 40, "y": 500 + 40 * number, "data": words}
        layouts.append(scene.layout(backdrop, *shown, text, ticker, transitions=[way], **CANVAS))
    return Stage(layouts, scene.layout(ticker, **CANVAS))


def windows(clock: list[painted.Painted | None], switches: list[tuple[float, int]]) -> list[Window]:
    """
    Args:
        clock: what the ticker shows on each frame.
        switches: `time.time()` of each, and which source is heard from then on; the last ends the show.
    """
    found = []
    for (begin, heard), (end, _) in pairwise(switches):
        within = [
            number
            for number, each in enumerate(clock)
            if each and (begin + SETTLE_S) * 1000 < each.wall_ms < end * 1000 - 200
        ]
        found.append(Window(slice(within[0], within[-1] + 1), heard))
    return found


def missed_percent(clock: list[painted.Painted | None], chosen: list[slice]) -> float:
    """Percent of the frames of these windows that bring nothing new."""
    of = sum(each.stop - each.start for each in chosen)
    missed = sum(
        painted.missing_percent(clock[each], each.stop - each.start) * (each.stop - each.start)
        for each in chosen
    )
    return float(missed / of)


def offsets_ms(
    recording: Path, clocks: list[list[painted.Painted | None]], shown: list[Window]
) -> list[list[float]]:
    """Audio minus video of each source, in each window in which it is heard."""
    times_s, clicks_s = boxes.frame_times_s(recording), boxes.click_times_s(recording)
    found: list[list[float]] = [[] for _ in clocks]
    for window in shown:
        begin_s, end_s = times_s[window.frames.start], times_s[window.frames.stop - 1]
        heard = [at for at in clicks_s if begin_s < at < end_s]
        clock = clocks[window.heard][window.frames]
        offset = painted.av_distance_ms(heard, times_s[window.frames], clock)
        if offset is not None:
            found[window.heard].append(offset)
    return found


def perform(
    scene: LiveScene, stage: Stage, url: str, folder: Path
) -> tuple[Path, list[tuple[float, int]], float]:
    """Records the show; returns the recording, its switches, and when the empty page went."""
    whole_s = EMPTY_S + STAY_S * len(stage.layouts) * ROUNDS + 4
    recordings: list[probe.Recording] = []
    recorder = threading.Thread(target=lambda: recordings.append(probe.record(url, whole_s, folder)))
    recorder.start()
    time.sleep(EMPTY_S)
    empty_until, switches = time.time(), []
    for _ in range(ROUNDS):
        for number in (1, 2, 0):
            scene.select(stage.layouts[number])
            switches.append((time.time(), number % 2))
            time.sleep(STAY_S)
    switches.append((time.time(), 0))
    recorder.join()
    return recordings[0].path, switches, empty_until


def join(facade: FacadeClient, show: LiveShow, name: str) -> str:
    """A token for the show's room."""
    access = facade.call("POST", f"{show.path}/webrtc/token", {"displayName": name})["webrtcAccess"]
    return str(access["accessToken"])


@pytest.mark.parametrize("size", [(1280, 720), (640, 360)], ids=["720p", "360p"])
async def test_a_show(
    make_show: Callable[..., LiveShow],
    facade: FacadeClient,
    cluster: LocalCluster,
    receiver: Receiver,
    path: str,
    tmp_path: Path,
    report: Callable[..., float],
    size: tuple[int, int],
) -> None:
    width, height = size
    name = f"show at {width}×{height}@30"
    encoding = Encoding(width=width, height=height)
    clip = await asyncio.to_thread(make_clip, tmp_path / "clip.mkv", CLIP_S, encoding)
    show = make_show("", width=width, height=height, composition={"scene": {}}, webrtc={"hosted": {}})
    scene = LiveScene(show)
    sources = [scene.source() for _ in range(2)]
    encoded = cluster.get("secret", "onair-demo-api-key", SYSTEM)["data"]["apiKey"]
    others = facade.another_session(base64.b64decode(encoded).decode())
    facade.call("PUT", f"{show.path}/webrtc/start", {})
    signal = str(facade.http.base_url).rstrip("/").replace("http", "ws", 1) + "/webrtc/v2"
    files = {
        "/ticker": ("text/html", TICKER.read_bytes()),
        "/stinger.webm": ("video/webm", media.webm((200, 40, 40))),
    }
    with site(files) as files_at:
        first, second = (join(one, show, who) for one, who in ((facade, "Anna"), (others, "Ben")))
        async with participant(signal, first) as anna, participant(signal, second) as ben:
            await anna.until("in the room", lambda told: told["identity"] == "e2e", 40)
            await ben.until("Anna is seen", lambda told: told["frames"]["e2e camera"] > 5, 40)
            stage = build(scene, [each["sourceId"] for each in sources], ["e2e", "e2e#2"], files_at)
            with pushed(clip, *sources):
                scene.select(stage.empty)
                show.add_destination(**address(path))
                show.start()
                await asyncio.to_thread(receiver.wait_steady, path, 5.0, 60.0)
                recording, switches, empty_until = await asyncio.to_thread(
                    perform, scene, stage, f"{RTMP}/{path}", tmp_path
                )
                conditions = cluster.get("project", show.project)["status"]["conditions"]
    failed = [each for each in conditions if each["type"] == "LayerFailed" and each["status"] == "True"]
    assert not failed
    scale = width / 1280
    ticker, *clocks = (
        boxes.clock_of(recording, Box(round(x * scale), round(y * scale), round(HALF * scale)))
        for x, y in ((0, 360), (0, 0), (HALF, 0))
    )
    assert any(ticker), "no clock is read on the empty page"
    begun = min(each.wall_ms for each in ticker if each)
    (empty,) = windows(ticker, [(begun / 1000, 0), (empty_until, 0)])
    shown = windows(ticker, switches)
    empty_missed = missed_percent(ticker, [empty.frames])
    show_missed = missed_percent(ticker, [each.frames for each in shown])
    report(f"{name}: frames missed or doubled, empty page", [empty_missed], "%")
    report(f"{name}: frames missed or doubled", [show_missed], "%")
    for number, clock in enumerate(clocks):
        drawn = missed_percent(clock, [each.frames for each in shown])
        report(f"{name}: frames of source {number + 1} missed or doubled", [drawn], "%")
    beyond = report(
        f"{name}: frames missed beyond the empty page", [show_missed - empty_missed], "%", MISSED_BOUND
    )
    worst = []
    for number, found in enumerate(offsets_ms(recording, clocks, shown)):
        assert found, f"source {number + 1} is not heard"
        report(f"{name}: A/V offset of source {number + 1}", found, "ms")
        worst.append(abs(statistics.median(found)))
    offset = report(f"{name}: largest A/V offset of a source", [max(worst)], "ms", AV_BOUND_MS)
    assert beyond < MISSED_BOUND * 2
    assert offset < AV_BOUND_MS * 2
