"""Measures how smooth a drag is on air: a layer that is moved by 30 requests a second."""

from __future__ import annotations

import time
from collections.abc import Callable
from itertools import pairwise

import numpy as np
from tests.support.receiver import RTMP
from tests.support.scene.far_end import FarEnd, Frame
from tests.support.scene.live_scene import LiveLayout, LiveScene, SceneOnAir

RATE = 30
DRAG_S = 6.0
STEP_PX = 6
"""Of the canvas, at each update."""
SIZE_PX = 80
SHOWN_WIDTH, SHOWN_HEIGHT = 640, 36
SCALE = 1280 / SHOWN_WIDTH
STALL_BOUND_S = 0.15
LATE_BOUND_FRAMES = 2.5
"""By how much 95 % of the frames are off the even motion; one is the rounding of both rates."""


def left_edge(frame: Frame) -> float | None:
    """Where the square is, in pixels of the canvas."""
    bright = np.nonzero(frame.pixels.mean(axis=0) > 8)[0]
    return float(bright[0] * SCALE) if len(bright) else None


def positions(frames: list[Frame]) -> list[tuple[float, float]]:
    """The time of each frame, on an even clock, and where the square is: from its first move to its last."""
    seen = [(frame.at, edge) for frame in frames if (edge := left_edge(frame)) is not None]
    moving = [number for number, ((_, a), (_, b)) in enumerate(pairwise(seen)) if a != b]
    chosen = seen[moving[0] : moving[-1] + 2]
    return [(number / RATE, edge) for number, (_, edge) in enumerate(chosen)]


def stall_s(seen: list[tuple[float, float]]) -> float:
    """The longest time that it stood."""
    moves = [at for (at, a), (_, b) in pairwise(seen) if a != b]
    return max(b - a for a, b in pairwise(moves))


def late_frames(seen: list[tuple[float, float]]) -> float:
    """By how many frames positions are off a line through all of them; of 95 % of the frames."""
    at, edges = np.array(seen).T
    speed, begin = np.polyfit(at, edges, 1)
    return float(np.percentile(np.abs(edges - begin - speed * at) / (STEP_PX), 95))


def drag(layout: LiveLayout, layer: str) -> float:
    """Moves the layer; returns the updates a second that were answered."""
    began = time.monotonic()
    for number in range(round(DRAG_S * RATE)):
        layout.patch(layer, x=number * STEP_PX)
        time.sleep(max(0.0, began + (number + 1) / RATE - time.monotonic()))
    return DRAG_S * RATE / (time.monotonic() - began)


def test_a_drag_is_smooth_on_air(
    scene: LiveScene, put_on_air: SceneOnAir, path: str, report: Callable[..., float]
) -> None:
    """Beside one animation over the same way, which is as even as page, machine and decoder are."""
    square = {"type": "square", "width": SIZE_PX, "height": 720, "x": 0, "data": {"backgroundColor": "#fff"}}
    layout = scene.layout()
    (layer,) = layout.add(square)
    put_on_air(scene, layout)
    way = round(DRAG_S * RATE) * STEP_PX
    with FarEnd(f"{RTMP}/{path}", SHOWN_WIDTH, SHOWN_HEIGHT) as far_end:
        began = time.time()
        linear = {"properties": ["x"], "durationMs": round(DRAG_S * 1000), "easingMode": "linear"}
        layout.patch(layer, x=way, requestAnimation=[linear])
        time.sleep(DRAG_S + 1)
        animated = positions(far_end.since(began))
        layout.patch(layer, x=0)
        time.sleep(1)
        began = time.time()
        rate = drag(layout, layer)
        time.sleep(1)
        dragged = positions(far_end.since(began))
    report("updates of a drag, answered", [rate], "/s", at_least=RATE * 0.95)
    report("an animation over the same way: longest standstill on air", [stall_s(animated)], "s")
    report("an animation: off the even motion, 95 % of frames", [late_frames(animated)], "frames")
    stall = report(
        "a drag of 30 updates a second: longest standstill on air", [stall_s(dragged)], "s", STALL_BOUND_S
    )
    late = report(
        "a drag: off the even motion, 95 % of frames", [late_frames(dragged)], "frames", LATE_BOUND_FRAMES
    )
    assert stall < STALL_BOUND_S * 2
    assert late < LATE_BOUND_FRAMES * 2
