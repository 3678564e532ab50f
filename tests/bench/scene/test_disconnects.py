"""Measures how long it takes until what stands for a source or guest who is away is received and decoded."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.support.media.live_view import LiveView, Pixels
from tests.support.rooms.member import member
from tests.support.scene.bench_stage import BenchStage
from tests.support.scene.on_air import square

from onair_crds.shapes import JsonObject

TIMES = 5
BRIGHT = 200
"""Of 255: what stands for who is away is white, who is there is darker."""
SHOWN = (64, 36)
COMES_S = 20.0
JOINED_S = 40.0
ENDED_BOUND_S, SILENT_BOUND_S = 0.5, 1.5
"""One whose connection has ended; one of which nothing comes any more, which is away after a second."""


def covering(type_: str, data: JsonObject) -> dict[str, JsonObject]:
    """A layer over a white ground, of which nothing is seen while what it shows is there."""
    size = {"width": 1280, "height": 720}
    gone = {"onDisconnect": "hide", type_: data}
    return {
        "ground": square((255, 255, 255), **size),
        "who": {"type": type_, **size, "data": gone | {"fit": "fill"}},
    }


def is_away(pixels: Pixels) -> bool:
    return bool(pixels.mean() > BRIGHT)


def is_there(pixels: Pixels) -> bool:
    return not is_away(pixels)


@contextmanager
def publisher(clip: Path, url: str) -> Iterator[subprocess.Popen[bytes]]:
    command = [
        "ffmpeg",
        "-loglevel",
        "error",
        "-nostdin",
        "-re",
        "-i",
        str(clip),
        "-c",
        "copy",
        "-f",
        "flv",
        url,
    ]
    with subprocess.Popen(command) as process:
        try:
            yield process
        finally:
            process.kill()


@pytest.mark.parametrize(
    ("how", "sent", "bound_s"),
    [
        ("a source's connection ends", signal.SIGKILL, ENDED_BOUND_S),
        ("a source falls silent", signal.SIGSTOP, SILENT_BOUND_S),
    ],
)
def test_what_stands_for_a_source_is_on_air_soon(
    stage: BenchStage,
    clip: Path,
    report: Callable[..., float],
    how: str,
    sent: signal.Signals,
    bound_s: float,
) -> None:
    id_, url = stage.air.source()
    delays = []
    with (
        LiveView(stage.url, SHOWN) as view,
        stage.air.showing(view, **covering("source", {"id": id_, "volume": 0})),
    ):
        for _ in range(TIMES):
            with publisher(clip, url) as pushing:
                view.until("the source", is_there, COMES_S)
                view.watch(1)
                with view.recording() as recording:
                    began = time.time()
                    pushing.send_signal(sent)
                    delays.append(view.first(recording, is_away).decoded_at - began)
            view.until("that it is away", is_away)
    worst = report(f"{how} → what stands for it on air, the slowest", [max(delays)], "s", bound_s)
    assert worst < bound_s * 2


async def test_what_stands_for_a_guest_who_leaves_is_on_air_soon(
    stage: BenchStage, report: Callable[..., float]
) -> None:
    air, delays = stage.air, []
    token = await asyncio.to_thread(lambda: air.room_token(air.guest("carl"), "carl"))
    layers = covering("webrtc", {"id": "carl", "type": "webcam", "volume": 0})
    with LiveView(stage.url, SHOWN) as view:
        scene = await asyncio.to_thread(air.scene, **layers)
        await asyncio.to_thread(air.select, scene)
        for _ in range(TIMES):
            async with member(air.signal_url, token, subscribe=False, insist_s=JOINED_S) as guest:
                await guest.publish_colour((40, 40, 40))
                await asyncio.to_thread(view.until, "the guest", is_there, COMES_S)
                await asyncio.to_thread(view.watch, 1)
                with view.recording() as recording:
                    began = time.time()
                    await guest.room.disconnect()
                    seen = await asyncio.to_thread(view.first, recording, is_away)
                    delays.append(seen.decoded_at - began)
        await asyncio.to_thread(scene.delete)
    worst = report(
        "a guest leaves → what stands for them on air, the slowest", [max(delays)], "s", ENDED_BOUND_S
    )
    assert worst < ENDED_BOUND_S * 2
