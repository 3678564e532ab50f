"""Measures what a source costs that is connected, and one that is read, beside ffmpeg that receives them."""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Callable
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
from tests.support.control_plane import free_port
from tests.support.delivery.cost import cost, memory_mb, running
from tests.support.ingest.clip import ClipEncoding, make_clip
from tests.support.ingest.ingest_pod import IngestPod
from tests.support.ingest.reader import Reader, reading
from tests.support.ingest.scripted_facade import ScriptedFacade
from tests.support.waiting import until, wait_for

from onair_crds.contract.ingest_gateway import stream_of_key

CONNECTED, READ = 50, 10
CLIP_S = 20.0
LISTENING_S, RECEIVING_S = 2.0, 15.0
"""Until ffmpeg listens after it has begun, and until it has found out what it receives: it says neither."""
MEMORY_BOUND = 1.0
"""Of what ffmpeg takes."""
FFMPEG = ("ffmpeg", "-loglevel", "error", "-nostdin", "-y")


@pytest.fixture(scope="module")
def clip(tmp_path_factory: pytest.TempPathFactory) -> Path:
    small = ClipEncoding(640, 360, bitrate_kbps=1000)
    return make_clip(tmp_path_factory.mktemp("clip") / "clip.mkv", CLIP_S, small)


def push(clip: Path, url: str) -> list[str | Path]:
    """Pushes a clip in real time, again and again."""
    return [*FFMPEG, "-re", "-stream_loop", "-1", "-i", clip, "-c", "copy", "-f", "flv", url]


async def drain(reader: Reader) -> None:
    async for _ in reader.socket:
        pass


async def test_fifty_sources_of_which_ten_are_read(
    report: Callable[..., float], tmp_path: Path, clip: Path
) -> None:
    secret = secrets.token_bytes(32)
    keys = [secrets.token_hex(16) for _ in range(CONNECTED)]
    wanted = {stream_of_key(key) for key in keys}
    with ScriptedFacade(secret) as facade, IngestPod(tmp_path, facade.url, secret) as pod:
        facade.keys.update(keys)
        pids = [pod.server.process.pid, pod.gateway.process.pid]
        with running(*(push(clip, f"{pod.rtmp}/{key}") for key in keys)), pod.follow() as follower:

            def all_measured() -> bool:
                states = [told.state for told in follower.told]
                return wanted <= {each.stream for each in states if each.video and each.video.framerate}

            await until(all_measured, "all frame rates are measured", 90, poll_s=0.05)
            connected = await asyncio.to_thread(cost, lambda: pids)
            async with AsyncExitStack() as readers, asyncio.TaskGroup() as draining:
                opened = [
                    await readers.enter_async_context(reading(pod.port, secret, key)) for key in keys[:READ]
                ]
                tasks = [draining.create_task(drain(each)) for each in opened]
                read = await asyncio.to_thread(cost, lambda: pids)
                for each in tasks:
                    each.cancel()
    beside = await asyncio.to_thread(of_ffmpeg, clip)
    report("a connected source, CPU of ingest", [connected[0] / CONNECTED], "% of a core")
    report("a connected source, memory of ingest", [connected[1] / CONNECTED], "MB")
    report("a source that is read, CPU beyond", [(read[0] - connected[0]) / READ], "% of a core")
    report("a source that is read, memory beyond", [(read[1] - connected[1]) / READ], "MB")
    report("50 sources, ten read, CPU of ffmpeg for each", [beside[0] / CONNECTED], "% of a core")
    report("50 sources, ten read, memory of ffmpeg for each", [beside[1] / CONNECTED], "MB")
    report("50 sources, ten read, CPU of ingest ÷ ffmpeg", [read[0] / beside[0]], "")
    report("50 sources, ten read, memory of ingest ÷ ffmpeg", [read[1] / beside[1]], "", MEMORY_BOUND)
    assert read[1] < 2 * MEMORY_BOUND * beside[1]


def of_ffmpeg(clip: Path) -> tuple[float, float]:
    """CPU and memory of as many ffmpeg that each receive one, of which some write it as it is."""
    ports: set[int] = set()
    while len(ports) < CONNECTED:
        ports.add(free_port())
    urls = [f"rtmp://127.0.0.1:{port}/live/one" for port in ports]
    outputs = [["-f", "flv", "/dev/null"]] * READ + [["-f", "null", "-"]] * (CONNECTED - READ)
    commands = (
        [*FFMPEG, "-listen", "1", "-i", url, "-c", "copy", *output]
        for url, output in zip(urls, outputs, strict=True)
    )
    with running(*commands) as pids:
        wait_for(lambda: memory_mb(pids) > CONNECTED, "all have begun", 30)
        time.sleep(LISTENING_S)
        with running(*(push(clip, url) for url in urls)):
            time.sleep(RECEIVING_S)
            return cost(lambda: pids)
