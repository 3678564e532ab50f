"""Animations as a viewer sees them: a layer that moves evenly is the clock that all others are held to."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.support.media.live_view import DecodedFrame, LiveRecording, LiveView, Pixels
from tests.support.scene.on_air import OnAir, square
from tests.support.scene.picture import Colour

from onair_crds.shapes import JsonObject

pytestmark = pytest.mark.media

CLOCK_PX, CLOCK_MS = 600, 2000
FRAME_MS = 1000 / 30
EDGE_PX = 1
ATTEMPTS = 3
COLOUR = 4
DEGREES = 90 * FRAME_MS / CLOCK_MS
"""As much as it turns in a frame's time."""
NEAR = 70
"""What is nearer to a colour is taken for it: edges are soft."""
Box = tuple[int, int, int, int]


def small(colour: Colour, y: int) -> JsonObject:
    return square(colour, 0, y, 40, 20)


def animation(*properties: str, duration: int = CLOCK_MS, delay: int = 0, easing: str = "") -> JsonObject:
    given = {"properties": list(properties), "durationMs": duration, "delayMs": delay}
    return given | ({"easingMode": easing} if easing else {})


def box(pixels: Pixels, colour: Colour) -> Box | None:
    """Left, top, right and bottom of what has this colour."""
    rows, columns = np.nonzero(
        np.abs(pixels.astype(np.int16) - np.array(colour, np.int16)).max(axis=2) < NEAR
    )
    if not len(rows):
        return None
    return int(columns.min()), int(rows.min()), int(columns.max()) + 1, int(rows.max()) + 1


def turned(pixels: Pixels, colour: Colour) -> tuple[float, NDArray[np.float64]]:
    """By how many degrees something long that has this colour is turned, and about which point."""
    rows, columns = np.nonzero(
        np.abs(pixels.astype(np.int16) - np.array(colour, np.int16)).max(axis=2) < NEAR
    )
    spread = np.cov(np.stack([columns, rows]))
    angle = np.degrees(0.5 * np.arctan2(2 * spread[0, 1], spread[0, 0] - spread[1, 1]))
    return float(angle % 180), np.array([columns.mean() + 0.5, rows.mean() + 0.5])


def ease_in_out(part: float) -> float:
    """As CSS defines it: cubic-bezier(0.42, 0, 0.58, 1)."""
    steps = np.linspace(0, 1, 2001)
    x = 3 * (1 - steps) ** 2 * steps * 0.42 + 3 * (1 - steps) * steps**2 * 0.58 + steps**3
    y = 3 * (1 - steps) * steps**2 + steps**3
    return float(np.interp(part, x, y))


def line(from_ms: float, to_ms: float) -> Callable[[float], float]:
    """How far something is that moves evenly in this time."""
    return lambda at_ms: float(np.clip((at_ms - from_ms) / (to_ms - from_ms), 0, 1))


@dataclass(frozen=True)
class Moving:
    """A property of a layer that is seen by one edge, or the extent, of its colour."""

    colour: Colour
    before: float
    after: float
    way: Callable[[float], float]
    seen: Callable[[Box], float]

    def at(self, at_ms: float) -> float:
        return self.before + (self.after - self.before) * self.way(at_ms)

    def off_px(self, pixels: Pixels, at_ms: float, late: int = 1) -> float:
        """How far it is from where it may be; in pixels.

        Args:
            late: so many frames may it lag behind the clock. It may be one ahead.
        """
        found = box(pixels, self.colour)
        assert found, f"{self.colour} is not seen at {at_ms} ms"
        near = [self.at(at_ms + part * FRAME_MS) for part in np.linspace(-late, 1, 21)]
        return max(0.0, min(near) - self.seen(found), self.seen(found) - max(near))


WHITE, RED, LIME, BLUE, YELLOW = (255, 255, 255), (255, 0, 0), (0, 255, 0), (40, 40, 255), (255, 255, 0)
PINK, CYAN, GRAY, ORANGE = (255, 0, 255), (0, 255, 255), (128, 128, 128), (255, 128, 0)
LAYERS = {
    "clock": small(WHITE, 0),
    "delayed": small(RED, 40),
    "eased": small(LIME, 80),
    "wider": small(BLUE, 120),
    "last": small(YELLOW, 160),
    "taller": square(ORANGE, 600, 80, 30, 40),
    "turned": square(PINK, 40, 270, 100, 30),
    "larger": square(CYAN, 400, 200, 60, 30),
    "paler": square(GRAY, 200, 260, 100, 60),
}


def left(found: Box) -> float:
    return found[0]


def width(found: Box) -> float:
    return found[2] - found[0]


def height(found: Box) -> float:
    return found[3] - found[1]


MOVING = {
    "delayed": Moving(RED, 0, 400, line(500, 1500), left),
    "eased": Moving(LIME, 0, 400, lambda at_ms: ease_in_out(line(0, 2000)(at_ms)), left),
    "wider": Moving(BLUE, 40, 440, line(0, 2000), width),
    "taller": Moving(ORANGE, 40, 240, line(0, 2000), height),
    "last": Moving(YELLOW, 0, 400, line(0, 1000), left),
    "larger": Moving(CYAN, 60, 180, line(0, 2000), width),
}
LAID_OUT = "wider", "taller"
"""Sizes are laid out anew for each frame, by the page's own thread; all else moves by another, also while
that one is busy. A size that a layer had earlier on its way is late; elsewhere, it is wrong."""
CHANGES: dict[str, JsonObject] = {
    "clock": {"x": CLOCK_PX, "requestAnimation": [animation("*")]},
    "delayed": {"x": 400, "requestAnimation": [animation("x", duration=1000, delay=500)]},
    "eased": {"x": 400, "requestAnimation": [animation("x", easing="ease-in-out")]},
    "wider": {"width": 440, "requestAnimation": [animation("width")]},
    "taller": {"height": 240, "requestAnimation": [animation("height")]},
    "last": {"x": 400, "requestAnimation": [animation("*"), animation("x", duration=1000)]},
    "turned": {"rotation": 90, "requestAnimation": [animation("rotation")]},
    "larger": {"scale": 3, "requestAnimation": [animation("scale")]},
    "paler": {"opacity": 0, "requestAnimation": [animation("opacity")]},
}


def clock_ms(pixels: Pixels, colour: Colour = WHITE) -> float:
    found = box(pixels, colour)
    assert found
    return found[0] * CLOCK_MS / CLOCK_PX


def on_time(frames: list[tuple[float, float]]) -> bool:
    """Whether a clock of the page goes as that of the stream does, within two frames for 95 % of them."""
    off = np.array([at_s * 1000 - painted_ms for at_s, painted_ms in frames])
    return bool(np.percentile(np.abs(off - np.median(off)), 95) <= 2 * FRAME_MS + 5)


def on_time_once(run: Callable[[], bool]) -> bool:
    """Whether it is on time: a busy machine paints late now and then. Wrong pictures are wrong at once."""
    return any(run() for _ in range(ATTEMPTS))


def moving_frames(
    recording: LiveRecording, painted_ms: Callable[[Pixels], float], until_ms: float
) -> list[DecodedFrame]:
    return [each for each in recording.frames if 10 < painted_ms(each.pixels) < until_ms - 10]


def test_every_property_moves_as_its_animation_says(air: OnAir, view: LiveView) -> None:
    assert on_time_once(lambda: every_property(air, view))


def every_property(air: OnAir, view: LiveView) -> bool:
    with air.showing(view, **LAYERS) as scene:
        view.until("the layers", lambda pixels: box(pixels, PINK) and box(pixels, YELLOW))
        with view.recording() as recording:
            scene.batch(**CHANGES)
            view.until("the end", lambda pixels: clock_ms(pixels) >= CLOCK_MS - 5)
    frames = moving_frames(recording, clock_ms, CLOCK_MS)
    assert len(frames) > CLOCK_MS / FRAME_MS / 3
    for frame in frames:
        pixels = frame.pixels
        at_ms = clock_ms(pixels)
        # Where it was before is late, which is judged below
        late = dict.fromkeys(LAID_OUT, round(at_ms / FRAME_MS) + 1)
        off = {name: each.off_px(pixels, at_ms, late.get(name, 1)) for name, each in MOVING.items()}
        assert max(off.values()) <= EDGE_PX, (at_ms, off)
        angle, centre = turned(pixels, PINK)
        assert abs(angle - 90 * at_ms / CLOCK_MS) <= DEGREES, at_ms
        assert max(abs(centre - np.array((90, 285)))) <= EDGE_PX, at_ms
        pale = 128 * (1 - at_ms / CLOCK_MS)
        step = 128 * FRAME_MS / CLOCK_MS
        assert np.abs(pixels[275:305, 215:285].astype(int) - pale).max() <= COLOUR + step, at_ms
    late_px = [
        MOVING[name].off_px(each.pixels, clock_ms(each.pixels)) for name in LAID_OUT for each in frames
    ]
    if max(late_px) > EDGE_PX:
        print(f"sizes are late by up to {max(late_px):.0f} px")
        return False
    return on_time([(each.at_s, clock_ms(each.pixels)) for each in frames])


def test_in_series_one_layer_moves_after_the_other(air: OnAir, view: LiveView) -> None:
    assert on_time_once(lambda: in_series(air, view))


def in_series(air: OnAir, view: LiveView) -> bool:
    moved = {"x": 600, "requestAnimation": [animation("x", duration=500)]}
    with air.showing(view, first=small(RED, 40), second=small(LIME, 80)) as scene:
        view.until("the layers", lambda pixels: box(pixels, RED) and box(pixels, LIME))
        with view.recording() as recording:
            scene.batch("SERIES", first=moved, second=moved)
            view.until("the end", lambda pixels: (box(pixels, LIME) or (0,))[0] >= 599)
    found = [(each.at_s, box(each.pixels, RED), box(each.pixels, LIME)) for each in recording.frames]
    places = [(at_s, one[0], other[0]) for at_s, one, other in found if one and other]
    for _, first, second in places:
        assert first >= 600 - EDGE_PX - 600 * FRAME_MS / 500 or second <= EDGE_PX, places
    moments = [(at_s, (first + second) / 600 * 500) for at_s, first, second in places]
    moving = [(at_s, painted_ms) for at_s, painted_ms in moments if 5 < painted_ms < 995]
    assert len(moving) > 10
    return on_time(moving)


def test_a_change_without_an_animation_ends_the_one_of_its_property_alone(air: OnAir, view: LiveView) -> None:
    with view.recording() as recording, air.showing(view, moving=small(RED, 40)) as scene:
        scene.patch("moving", x=600, y=340, requestAnimation=[animation("*", duration=5000)])
        view.until("on its way", lambda pixels: (box(pixels, RED) or (0,))[0] > 150)
        scene.patch("moving", x=20)
        view.until("the end of the rest", lambda pixels: (box(pixels, RED) or (9,) * 4)[:2] == (20, 340))
    places = [found[:2] for each in recording.frames if (found := box(each.pixels, RED))]
    ended = next(at for at, (x, y) in enumerate(places) if y > 60 and x <= 20 + EDGE_PX)
    for x, y in places[:ended]:
        assert abs(x / 600 - (y - 40) / 300) <= 0.01, (x, y)
    below = [y for x, y in places[ended:] if abs(x - 20) <= EDGE_PX]
    assert len(below) == len(places) - ended, "at once, and for good"
    assert below == sorted(below)
    assert len({*below}) > 10, "the other goes on"


def test_what_is_interrupted_goes_on_from_where_it_is(air: OnAir, view: LiveView) -> None:
    assert on_time_once(lambda: interrupted(air, view))


def interrupted(air: OnAir, view: LiveView) -> bool:
    with view.recording() as recording, air.showing(view, moving=small(RED, 40)) as scene:
        # At once: the encoder may be told of the way before it knows the layout
        scene.patch("moving", x=600, requestAnimation=[animation("x", duration=8000)])
        view.until("on its way", lambda pixels: (box(pixels, RED) or (0,))[0] > 150)
        scene.patch("moving", x=0, y=240, requestAnimation=[animation("*", duration=1000)])
        view.until("the end", lambda pixels: (box(pixels, RED) or (9,) * 4)[:2] == (0, 240))
    found = [(each.at_s, box(each.pixels, RED)) for each in recording.frames]
    places = [(at_s, each[0], each[1]) for at_s, each in found if each]
    turn_s, turn_x, _ = max(places, key=lambda place: place[1])
    assert 150 < turn_x < 590, f"it jumped to its end: {places}"
    there = [(at_s, x / 600 * 8000) for at_s, x, y in places if x > 3 and at_s <= turn_s and y <= 41]
    after = [(at_s, x, y) for at_s, x, y in places if at_s > turn_s and y > 41]
    # Both properties take the same time from there: the way back is a line to the corner
    for _, x, y in after:
        assert abs(x / turn_x - (240 - y) / 200) <= 0.02, (turn_x, x, y)
    back = [(at_s, (1 - x / turn_x) * 1000) for at_s, x, _ in after if x > 3]
    assert len(back) > 10
    return on_time(there) and on_time(back)
