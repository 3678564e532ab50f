"""Measures how late previews are: from a picture's arrival at ingest into a room, and into an HLS player."""

from __future__ import annotations

import asyncio
import contextlib
import os
import secrets
import statistics
import subprocess
import time
from collections.abc import Callable, Iterator
from functools import cache, partial
from pathlib import Path

import numpy as np
import pytest
from livekit import rtc
from numpy.typing import NDArray
from tests.support.delivery.hls_player import playing
from tests.support.delivery.livekit_server import LiveKitServer
from tests.support.ingest.arrivals import Arrivals
from tests.support.ingest.clip import RATE_HZ, ClipEncoding, clicks_ms, make_clip
from tests.support.ingest.hls_relay import relayed
from tests.support.ingest.ingest_pod import IngestPod
from tests.support.ingest.previews import want
from tests.support.ingest.scripted_facade import ScriptedFacade
from tests.support.media import probe
from tests.support.media.painted import av_offset_ms, click_times, read_frame
from tests.support.processes import children_of
from tests.support.rooms.member import member
from tests.support.rooms.participant import participant
from tests.support.waiting import seconds_until

from onair_crds.shapes import JsonObject

CLIP_S = 40.0
WATCHED_S = 15.0
SKIPPED = 30
BOUND_MS = 40
JOINS = 5
Report = Callable[..., float]
Clips = Callable[[int], Path]
Stage = tuple[IngestPod, LiveKitServer, ScriptedFacade]
TICKS_PER_S = os.sysconf("SC_CLK_TCK")


@pytest.fixture(scope="module")
def stage(
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[tuple[IngestPod, LiveKitServer, ScriptedFacade]]:
    secret = secrets.token_bytes(32)
    with (
        ScriptedFacade(secret) as facade,
        IngestPod(tmp_path_factory.mktemp("ingest"), facade.url, secret) as pod,
        LiveKitServer(tmp_path_factory.mktemp("rooms")) as server,
    ):
        yield pod, server, facade


@contextlib.contextmanager
def pushed(pod: IngestPod, facade: ScriptedFacade, clip: Path) -> Iterator[tuple[str, Arrivals]]:
    """A clip that is pushed in real time; gives its key and when each of its pictures arrived."""
    key = secrets.token_hex(16)
    facade.keys.add(key)
    with Arrivals("127.0.0.1", pod.rtmp_port) as arrivals, pod.follow() as follower:
        url = f"rtmp://{arrivals.host}:{arrivals.port}/live/{key}"
        command = ["ffmpeg", "-loglevel", "error", "-nostdin", "-re", "-stream_loop", "-1"]
        with subprocess.Popen([*command, "-i", str(clip), "-c", "copy", "-f", "flv", url]) as process:
            follower.flowing(key)
            yield key, arrivals
            process.kill()


@pytest.fixture(scope="module")
def clip_of(tmp_path_factory: pytest.TempPathFactory) -> Callable[[int], Path]:
    """A clip with so many B-frames; made once."""

    @cache
    def made(b_frames: int) -> Path:
        return make_clip(
            tmp_path_factory.mktemp("clip") / "clip.mkv", CLIP_S, ClipEncoding(b_frames=b_frames)
        )

    return made


def cpu_s(pid: int) -> float:
    user, system = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:13]
    return (int(user) + int(system)) / TICKS_PER_S


def pss_mib(pid: int) -> float:
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    return int(next(line for line in lines if line.startswith("Pss:")).split()[1]) / 1024


def room_process(pod: IngestPod) -> int:
    (child,) = children_of(pod.gateway.process.pid)
    return child


@pytest.mark.parametrize(("form", "b_frames"), [("passed through", 0), ("encoded anew", 2)])
async def test_push_to_room(
    report: Callable[..., float],
    clip_of: Callable[[int], Path],
    stage: Stage,
    form: str,
    b_frames: int,
) -> None:
    pod, server, facade = stage
    clip = await asyncio.to_thread(clip_of, b_frames)
    seen: list[tuple[int, float]] = []
    heard: list[tuple[float, NDArray[np.float32]]] = []

    def listen(frame: rtc.AudioFrame) -> None:
        samples = np.frombuffer(frame.data, np.int16).reshape(-1, frame.num_channels)[:, 0]
        heard.append((time.time(), samples.astype(np.float32) / np.float32(2**15)))

    def note(frame: rtc.VideoFrame) -> None:
        at_ms = time.time() * 1000
        luma = np.frombuffer(frame.data, np.uint8)[: frame.width * frame.height]
        if painted := read_frame(luma.reshape(frame.height, frame.width)):
            seen.append((painted.wall_ms, at_ms))

    room = f"room-{b_frames}"
    with pushed(pod, facade, clip) as (key, arrivals):
        async with member(server.url, server.token(room, "viewer", canSubscribe=True)) as watching:
            watching.watching, watching.hearing = note, listen
            want(pod, server, room, {key: "source-camera"})
            await seconds_until(lambda: len(seen) > SKIPPED, "it is seen", 20)
            process = room_process(pod)
            before_s, began_s = cpu_s(process), time.monotonic()
            await asyncio.sleep(WATCHED_S)
            cpu = (cpu_s(process) - before_s) / (time.monotonic() - began_s)
            memory = pss_mib(process)
        want(pod, server, room, {})
        latencies = matched(seen[SKIPPED:], arrivals.at_ms)
    offset = report(f"A/V offset in a room, {form}", [offset_ms(seen[SKIPPED:], heard)], "ms")
    p95 = statistics.quantiles(latencies, n=20)[-1] / 1000
    report(f"push → room, {form}, p50", [statistics.median(latencies) / 1000], "s")
    assert report(f"push → room, {form}, p95", [p95], "s", 0.5) < 1
    assert report(f"CPU of a preview, 720p30 {form}", [cpu], "cores", 0.35) < 0.7
    report(f"memory of a preview, 720p30 {form}", [memory], "MiB")
    assert abs(offset) < BOUND_MS


def offset_ms(seen: list[tuple[int, float]], heard: list[tuple[float, NDArray[np.float32]]]) -> float:
    """Audio minus video of what a member of a room was given: its clicks, and the clock on its pictures."""
    samples = np.concatenate([piece for _, piece in heard])
    ends_s = np.cumsum([len(piece) for _, piece in heard]) / RATE_HZ
    begin_s = float(np.median([at_s - end_s for (at_s, _), end_s in zip(heard, ends_s, strict=True)]))
    clicks = [begin_s + at_s for at_s in click_times(samples, RATE_HZ)]
    video_ms = float(np.median([at_ms - clock_ms for clock_ms, at_ms in seen]))
    offset = av_offset_ms(clicks, [(each + video_ms) / 1000 for each in clicks_ms(CLIP_S)])
    assert offset is not None, f"{len(clicks)} clicks fit to none of the clip's"
    return offset


def matched(seen: list[tuple[int, float]], arrived_at_ms: dict[int, float]) -> list[float]:
    """Latencies of those pictures whose arrival is known: times are rounded on the way."""
    nearest = {round(at / 10): ms for at, ms in arrived_at_ms.items()}
    found = []
    for clock, at_ms in seen:
        key = round(clock / 10)
        arrived = [nearest[each] for each in (key, key - 1, key + 1) if each in nearest]
        found += [at_ms - arrived[0]] if arrived else []
    return found


def has_picture_of(source: str, report: JsonObject) -> object:
    return report["frames"].get(f"{source} screen_share")


def is_without(source: str, report: JsonObject) -> bool:
    return source not in report["participants"]


def plays(at_s: float, report: JsonObject) -> object:
    return report["time"] >= at_s and report["behindMs"]


async def test_wanted_to_first_picture(report: Report, clip_of: Clips, stage: Stage) -> None:
    """A browser is in the room; the operator's word is the beginning. Key frames are 2 s apart."""
    pod, server, facade = stage
    clip = await asyncio.to_thread(clip_of, 2)
    times_s = []
    with pushed(pod, facade, clip) as (key, _):
        token = server.token("first", "viewer", canSubscribe=True, canPublish=False)
        async with participant(server.url, token, publish=False) as browser:
            await browser.until("in the room", lambda r: r["state"] == "connected", 40)
            for number in range(JOINS):
                source = f"source-{number}"
                began_s = time.monotonic()
                want(pod, server, "first", {key: source})
                await browser.until("a picture", partial(has_picture_of, source), 20)
                times_s.append(time.monotonic() - began_s)
                want(pod, server, "first", {})
                await browser.until("nothing", partial(is_without, source), 10)
    assert report("a preview is wanted → first picture in a browser", times_s, "s", 4) < 8


async def test_push_to_hls(report: Report, clip_of: Clips, stage: Stage, tmp_path: Path) -> None:
    """hls.js with its live edge two segments behind; key frames are 2 s apart."""
    pod, _, facade = stage
    clip = await asyncio.to_thread(clip_of, 2)
    with pushed(pod, facade, clip) as (key, _):
        async with relayed(pod, key) as url, playing(url) as watching:
            seen = await watching.until("playing", lambda r: r["decoded"] > 30 and r["behindMs"], 40)
            behind = []
            for _ in range(int(WATCHED_S)):
                # By what it plays, not by our clock: a player that stalls gives no sample
                later_s = seen["time"] + 1
                seen = await watching.until("a second later", partial(plays, later_s), 10)
                behind.append(seen["behindMs"] / 1000)
            recording = await asyncio.to_thread(probe.record, url, WATCHED_S, tmp_path)
    media = await asyncio.to_thread(probe.analyse, recording)
    assert media.av_offset_ms is not None, media
    offset = report("A/V offset in HLS", [media.av_offset_ms], "ms")
    report("push → HLS player, p50", [statistics.median(behind)], "s")
    assert report("push → HLS player, p95", [statistics.quantiles(behind, n=20)[-1]], "s", 10) < 20
    assert abs(offset) < BOUND_MS
