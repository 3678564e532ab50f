"""What transitions sound like to a viewer, and videos that play over them."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.support.media.live_view import SAMPLE_RATE, LiveRecording, LiveView, Pixels
from tests.support.pages import site
from tests.support.scene import media
from tests.support.scene.on_air import HEIGHT, RATE, WIDTH, OnAir, square
from tests.support.scene.picture import Colour

from onair_crds.shapes import JsonObject

pytestmark = pytest.mark.media

COLOUR, GAIN_DB = 4, 1
FRAMES_S = 2 / RATE + 0.005
LOW_HZ, HIGH_HZ, STING_HZ = 440, 1320, 880
LOUD = 0.5
"""Of the clips' tones."""
WINDOW_S = 0.02
QUIET_DB = -20
"""What is quieter is not measured."""
SILENT_DB = -40
"""What is quieter is not heard beside the other tone."""
FADE_S = 4.0
BEGUN = 0.25
"""Part of a transition after which the new layout's video is heard: it takes a moment to begin."""
OVER_S, BEGUN_S = 0.2, 0.7
"""After a cut: until the old layout is silent, and until the new one's video is heard."""
RED, BLUE, CYAN, YELLOW, BLACK = (200, 0, 0), (0, 0, 200), (0, 200, 200), (200, 200, 0), (0, 0, 0)
CUT_S, STING_S = 0.6, 2.0
ATTEMPTS = 3
"""A machine that is busy is late now and then, with sound too; what was off is in the warnings of a run."""


@pytest.fixture(scope="module")
def clips() -> Iterator[str]:
    """The address of videos: two with a tone, and one for a stinger."""
    tones = {hz: media.webm(*[BLACK] * 20, rate=2, tone_hz=hz) for hz in (LOW_HZ, HIGH_HZ)}
    # Half as wide as the canvas: what is below is seen beside it
    sting = media.webm(CYAN, YELLOW, size=(320, 360), rate=30, tone_hz=STING_HZ)
    files = {f"/{hz}.webm": ("video/webm", clip) for hz, clip in tones.items()}
    with site(files | {"/sting.webm": ("video/webm", sting)}) as address:
        yield address


def tone(address: str, hz: int) -> JsonObject:
    url = f"{address}/{hz}.webm"
    return {"type": "video", "width": 16, "height": 9, "data": {"media": {"url": url, "loop": True}}}


def at(pixels: Pixels, x: int) -> NDArray[np.int_]:
    colour: NDArray[np.int_] = pixels[HEIGHT // 2, x].astype(int)
    return colour


def has(pixels: Pixels, x: int, colour: Colour) -> bool:
    return bool(np.abs(at(pixels, x) - np.array(colour)).max() <= COLOUR)


def level(recording: LiveRecording, at_s: float, hz: int) -> float:
    """How loud a tone is about a moment, as a part of how loud its clip is; a dropout is not counted."""
    return max(_levels(recording, at_s, hz))


def usual_level(recording: LiveRecording, at_s: float, hz: int) -> float:
    """The same most of that time: a gap in another tone is a click, with a little of each frequency."""
    return float(np.median(_levels(recording, at_s, hz)))


def _levels(recording: LiveRecording, at_s: float, hz: int) -> list[float]:
    return [_level(recording, at_s + late_s, hz) for late_s in np.linspace(-FRAMES_S, FRAMES_S, 9)]


def _level(recording: LiveRecording, at_s: float, hz: int) -> float:
    heard = recording.sound(at_s - WINDOW_S / 2, at_s + WINDOW_S / 2)
    times, window = np.arange(len(heard)) / SAMPLE_RATE, np.hanning(len(heard))
    return float(2 * np.abs((heard * window * np.exp(-2j * np.pi * hz * times)).sum() / window.sum()) / LOUD)


def db(gain: float) -> float:
    return float(20 * np.log10(max(gain, 1e-4)))


@dataclass(frozen=True)
class Fade:
    """A transition from red to blue: what is seen of both and heard of their tones, at a part of its time."""

    transition: JsonObject
    part: Callable[[NDArray[np.float64], NDArray[np.float64]], float | None]
    """From how much of red and of blue is seen at each point of a line; None where that says nothing."""
    gains: Callable[[float], tuple[float, float]]


def half_each(reds: NDArray[np.float64], blues: NDArray[np.float64]) -> float | None:
    red, blue = reds[WIDTH // 2], blues[WIDTH // 2]
    if max(red, blue) < 0.05:
        return None
    return float((1 - red) / 2 if red > blue else (1 + blue) / 2)


FADES = {
    "crossfade": Fade(
        {"crossfade": {"durationMs": int(FADE_S * 1000)}},
        lambda reds, blues: float(blues[WIDTH // 2]),
        lambda part: (1 - part, part),
    ),
    "swipe": Fade(
        {"swipe": {"durationMs": int(FADE_S * 1000), "direction": "TRANSITION_DIRECTION_LEFT"}},
        lambda reds, blues: float((blues > 0.5).mean()),
        lambda part: (1 - part, part),
    ),
    "fadeToColor": Fade(
        {"fadeToColor": {"durationMs": int(FADE_S * 1000), "backgroundColor": "#000"}},
        half_each,
        lambda part: (max(0, 1 - 2 * part), max(0, 2 * part - 1)),
    ),
}


def unlike_the_picture(recording: LiveRecording, fade: Fade) -> list[str]:
    """Where a transition's tones are louder or quieter than what is seen of it then."""
    seen = [
        (each.at_s, fade.part(*(each.pixels[HEIGHT // 2].T[[0, 2]] / np.array([[RED[0]], [BLUE[2]]]))))
        for each in recording.frames
    ]
    began_s = float(
        np.median([at_s - part * FADE_S for at_s, part in seen if part is not None and 0.05 < part < 0.95])
    )
    found = []
    for part in (0, 0.25, 0.5, 0.75, 1):
        near = np.clip(np.array([-1, 0, 1]) * FRAMES_S / FADE_S + part, 0, 1)
        for hz, gains in zip((LOW_HZ, HIGH_HZ), zip(*map(fade.gains, near), strict=True), strict=True):
            heard = db(level(recording, began_s + part * FADE_S, hz))
            least, most = db(min(gains)), db(max(gains))
            is_loud = heard > max(most, QUIET_DB) + GAIN_DB
            has_begun = hz == LOW_HZ or part >= BEGUN
            if is_loud or (has_begun and least >= QUIET_DB and heard < least - GAIN_DB):
                moments = np.linspace(0, 1, 21)
                table = [round(db(level(recording, began_s + each * FADE_S, hz)), 1) for each in moments]
                found.append(f"{hz} Hz at {part} of the time: {heard:.1f} dB; in all {table}")
    return found


@pytest.mark.parametrize("fade", FADES.values(), ids=FADES)
def test_a_transition_is_heard_as_it_is_seen(air: OnAir, view: LiveView, clips: str, fade: Fade) -> None:
    old = air.scene(ground=square(RED), tone=tone(clips, LOW_HZ))
    new = air.scene(fade.transition, ground=square(BLUE), tone=tone(clips, HIGH_HZ))
    off: list[list[str]] = []
    for _ in range(ATTEMPTS):
        air.select(old)
        view.until("the old layout", lambda pixels: has(pixels, 320, RED))
        with view.recording() as recording:
            air.select(new)
            view.until("the new layout", lambda pixels: has(pixels, 320, BLUE) and has(pixels, 2, BLUE))
            view.watch(0.6)
        off.append(unlike_the_picture(recording, fade))
        if not off[-1]:
            break
        warnings.warn(f"a transition was not heard as it was seen: {off[-1]}", stacklevel=1)
    for each in (old, new):
        each.delete()
    assert not off[-1], off


def unlike_a_cut(recording: LiveRecording, cut_s: float) -> list[str]:
    """Which of the layouts' tones are not heard as a cut has them."""
    wanted = {
        LOW_HZ: {cut_s - 0.1: True, cut_s + OVER_S: False, cut_s + BEGUN_S: False},
        HIGH_HZ: {cut_s - 0.1: False, cut_s + BEGUN_S: True},
    }
    levels = [
        (hz, at_s - cut_s, db((level if is_loud else usual_level)(recording, at_s, hz)), is_loud)
        for hz, moments in wanted.items()
        for at_s, is_loud in moments.items()
    ]
    return [
        f"{hz} Hz {after_s:+.2f} s: {heard:.1f} dB"
        for hz, after_s, heard, is_loud in levels
        if (abs(heard) > GAIN_DB if is_loud else heard > SILENT_DB)
    ]


def test_a_cut_is_heard_when_it_is_seen(air: OnAir, view: LiveView, clips: str) -> None:
    old = air.scene(ground=square(RED), tone=tone(clips, LOW_HZ))
    new = air.scene({"cut": {}}, ground=square(BLUE), tone=tone(clips, HIGH_HZ))
    off: list[list[str]] = []
    for _ in range(ATTEMPTS):
        air.select(old)
        view.until("the old layout", lambda pixels: has(pixels, 320, RED))
        with view.recording() as recording:
            view.watch(BEGUN_S + 0.1)
            air.select(new)
            view.until("the new layout", lambda pixels: has(pixels, 320, BLUE))
            view.watch(BEGUN_S + 0.5)
        off.append(unlike_a_cut(recording, first_seen(recording, 320, BLUE)))
        if not off[-1]:
            break
        warnings.warn(f"a cut was not heard when it was seen: {off[-1]}", stacklevel=1)
    for each in (old, new):
        each.delete()
    assert not off[-1], off


def first_seen(recording: LiveRecording, x: int, colour: Colour) -> float:
    """When a colour is first there, in seconds of the stream."""
    return next(each.at_s for each in recording.frames if has(each.pixels, x, colour))


def stung(recording: LiveRecording) -> dict[str, float]:
    """When the stinger begins and changes its colour, the layouts are cut, and it ends."""
    moments = {"begins": (320, CYAN), "changes": (320, YELLOW), "cut": (20, BLUE), "ends": (320, BLUE)}
    return {name: first_seen(recording, *seen) for name, seen in moments.items()}


def test_a_stinger_plays_over_the_cut_at_its_point(air: OnAir, view: LiveView, clips: str) -> None:
    cut = {"cutPointMs": int(CUT_S * 1000), "media": {"url": f"{clips}/sting.webm", "volume": 0.5}}
    old = air.scene(ground=square(RED), tone=tone(clips, LOW_HZ))
    new = air.scene({"stinger": {"cut": cut}}, ground=square(BLUE), tone=tone(clips, HIGH_HZ))
    late: list[dict[str, float]] = []
    off: list[list[str]] = []
    for _ in range(ATTEMPTS):
        air.select(old)
        view.until("the old layout", lambda pixels: has(pixels, 320, RED))
        with view.recording() as recording:
            view.watch(BEGUN_S)
            air.select(new)
            view.until("the new layout", lambda pixels: has(pixels, 320, BLUE) and has(pixels, 20, BLUE))
            view.watch(0.5)
        for each in recording.frames:
            assert has(each.pixels, 20, RED) or has(each.pixels, 20, BLUE), at(each.pixels, 20)
            seen = [colour for colour in (RED, CYAN, YELLOW, BLUE) if has(each.pixels, 320, colour)]
            assert seen, at(each.pixels, 320)
        moments = stung(recording)
        wanted = {"begins": 0.0, "cut": CUT_S, "changes": 1.0, "ends": STING_S}
        times = {name: moments[name] - at_s for name, at_s in wanted.items()}
        began_s = float(np.median(list(times.values())))
        for when_s, gain in ((0.5, 0.5), (1.5, 0.5)):
            heard = db(level(recording, began_s + when_s, STING_HZ))
            assert abs(heard - db(gain)) <= GAIN_DB, heard
        off.append(unlike_a_cut(recording, moments["cut"]))
        if (left := level(recording, began_s + STING_S + 0.3, STING_HZ)) >= 0.01:
            off[-1].append(f"the stinger is heard after its end: {db(left):.1f} dB")
        late.append({name: abs(at_s - began_s) for name, at_s in times.items()})
        if max(late[-1].values()) <= FRAMES_S and not off[-1]:
            break
        warnings.warn(f"a stinger was late, or not heard as a cut: {late[-1]}, {off[-1]}", stacklevel=1)
    for scene in (old, new):
        scene.delete()
    assert max(late[-1].values()) <= FRAMES_S, late
    assert not off[-1], off
