"""Measures how smooth a drag is on air: a layer that is moved by 30 requests a second."""

from __future__ import annotations

import time
from collections.abc import Callable
from itertools import pairwise

import numpy as np
from tests.support.media.live_view import DecodedFrame, Pixels
from tests.support.scene.live_scene import LiveLayout, LiveScene, PutOnAir

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


def left_edge(pixels: Pixels) -> float | None:
    """Where the square is, in pixels of the canvas."""
    bright = np.nonzero(pixels.mean(axis=0) > 8)[0]
    return float(bright[0] * SCALE) if len(bright) else None


def square_at(x: int) -> Callable[[Pixels], bool]:
    def there(pixels: Pixels) -> bool:
        edge = left_edge(pixels)
        return edge is not None and abs(edge - x) <= 2 * SCALE

    return there


def positions(frames: list[DecodedFrame]) -> list[tuple[float, float]]:
    """The time of each frame, on an even clock, and where the square is: from its first move to its last."""
    seen = [edge for frame in frames if (edge := left_edge(frame.pixels)) is not None]
    moving = [number for number, (a, b) in enumerate(pairwise(seen)) if a != b]
    chosen = seen[moving[0] : moving[-1] + 2]
    return [(number / RATE, edge) for number, edge in enumerate(chosen)]


def stall_s(seen: list[tuple[float, float]]) -> float:
    """The longest time that it stood."""
    moves = [at for (at, a), (_, b) in pairwise(seen) if a != b]
    return max(b - a for a, b in pairwise(moves))


def late_frames(seen: list[tuple[float, float]]) -> float:
    """By how many frames positions are off a line through all of them; of 95 % of the frames."""
    at, edges = np.array(seen).T
    speed, begin = np.polyfit(at, edges, 1)
    return float(np.percentile(np.abs(edges - begin - speed * at) / (STEP_PX), 95))


def drag(layout: LiveLayout) -> float:
    """Moves the square; returns the updates a second that were answered."""
    began = time.monotonic()
    for number in range(round(DRAG_S * RATE)):
        layout.patch("square", x=number * STEP_PX)
        time.sleep(max(0.0, began + (number + 1) / RATE - time.monotonic()))
    return DRAG_S * RATE / (time.monotonic() - began)


def test_a_drag_is_smooth_on_air(
    scene: LiveScene, put_on_air: PutOnAir, report: Callable[..., float]
) -> None:
    """Beside one animation over the same way, which is as even as page, machine and decoder are."""
    square = {"type": "square", "width": SIZE_PX, "height": 720, "x": 0, "data": {"backgroundColor": "#fff"}}
    layout = scene.layout(square=square)
    moves = round(DRAG_S * RATE)
    way = moves * STEP_PX
    with put_on_air(layout, (SHOWN_WIDTH, SHOWN_HEIGHT)) as view:
        linear = {"properties": ["x"], "durationMs": round(DRAG_S * 1000), "easingMode": "linear"}
        with view.recording() as animation:
            layout.patch("square", x=way, requestAnimation=[linear])
            view.first(animation, square_at(way), DRAG_S + 10)
        with view.recording() as back:
            layout.patch("square", x=0)
            view.first(back, square_at(0))
        with view.recording() as drawn:
            rate = drag(layout)
            view.first(drawn, square_at(way - STEP_PX))
    animated, dragged = positions(animation.frames), positions(drawn.frames)
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
