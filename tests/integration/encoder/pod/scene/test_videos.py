"""Videos of layers as viewers see and hear them: how they go on and end, how large and how loud they are."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np
import pytest
from tests.support.media.live_view import SAMPLE_RATE, LiveRecording, LiveView, Pixels
from tests.support.pages import site
from tests.support.scene import media
from tests.support.scene.camera import tone_at_end, tone_level
from tests.support.scene.on_air import RATE, OnAir, square
from tests.support.scene.picture import Colour

from onair_crds.shapes import JsonObject

pytestmark = pytest.mark.media

GREEN, RED, BLUE, VIOLET = (0, 160, 0), (200, 0, 0), (0, 0, 200), (96, 0, 208)
COLOUR, EDGE_PX, GAIN_DB = 4, 1, 1
INSET = 4
"""Of what is looked at for its colour: edges are soft, once encoded."""
FRAMES_S = 2 / RATE + 0.005
"""How far a point in time may be off; timestamps are of whole milliseconds."""
SIZE, PLACE = (160, 90), (40, 24)
SMALL, BESIDE = (80, 45), (300, 128)
TONE_HZ, LOUD = 440, 0.5
HALF_S = 1.0
"""Of the clip, which is red and then blue."""
FALLS_SILENT_S = 0.05
"""Before the end of a video that does not loop; as long a gap is in one that does and is treated so."""
SILENT, WINDOW_S = 0.01, 0.005
ROUNDS, STAYS_S, HEARD_S = 3, 1.5, 0.7
ATTEMPTS = 4
"""Until all is on time, and heard without a gap: a machine that is busy is late now and then."""


@pytest.fixture(scope="module")
def clips() -> Iterator[str]:
    """The address of videos: red, then blue, with a tone; and of violet, as editors give them."""
    both = media.webm(RED, BLUE, size=SIZE, rate=30, tone_hz=TONE_HZ, tone_peak=LOUD)
    files = {
        "/both.webm": ("video/webm", both),
        "/violet.mp4": ("video/mp4", media.mp4(VIOLET, VIOLET, size=SIZE)),
    }
    with site(files) as address:
        yield address


def video(url: str, place: tuple[int, int] = PLACE, **given: object) -> JsonObject:
    """A layer of the video's own size."""
    return {"type": "video", "x": place[0], "y": place[1], "data": {"media": {"url": url, **given}}}


def has(pixels: Pixels, colour: Colour, place: tuple[int, int] = PLACE, size: tuple[int, int] = SIZE) -> bool:
    """Whether a box is of one colour all over."""
    (x, y), (width, height) = place, size
    inner = pixels[y + INSET : y + height - INSET, x + INSET : x + width - INSET].astype(int)
    return bool(np.abs(inner - np.array(colour)).max() <= COLOUR)


def shown(pixels: Pixels) -> Colour | None:
    """Which colour the video has, or the ground where it would be."""
    return next((each for each in (RED, BLUE, GREEN) if has(pixels, each)), None)


def displaced_px(pixels: Pixels, place: tuple[int, int], size: tuple[int, int]) -> int:
    """How far an edge is off at most, of what is not the ground about a place."""
    left, top = (each - 20 for each in place)
    near = pixels[top : top + size[1] + 40, left : left + size[0] + 40].astype(int)
    rows, columns = np.nonzero(np.abs(near - np.array(GREEN)).max(axis=2) > 60)
    found = (columns.min(), rows.min(), columns.max() + 1, rows.max() + 1)
    wanted = (20, 20, 20 + size[0], 20 + size[1])
    return int(max(abs(one - other) for one, other in zip(found, wanted, strict=True)))


def halves(recording: LiveRecording) -> list[tuple[Colour | None, float, float]]:
    """What was seen one after the other, from when until when, from the video's first frame on."""
    frames = [(shown(each.pixels), each.at_s) for each in recording.frames]
    first = next(at for at, (colour, _) in enumerate(frames) if colour == RED)
    groups = [[*group] for _, group in itertools.groupby(frames[first:], lambda frame: frame[0])]
    return [(group[0][0], group[0][1], group[-1][1] + 1 / RATE) for group in groups]


def tone(recording: LiveRecording, from_s: float, to_s: float) -> float:
    """How loud the tone is in this time, as a part of how loud the clip is."""
    return tone_level(recording.sound(from_s, to_s), TONE_HZ) / LOUD


def quiet_s(recording: LiveRecording, from_s: float, to_s: float) -> float:
    """For how long it is quieter than half of the clip."""
    sound, size = recording.sound(from_s, to_s), round(WINDOW_S * SAMPLE_RATE)
    pieces = sound[: len(sound) // size * size].reshape(-1, size)
    return float((np.sqrt(2 * (pieces**2).mean(axis=1)) < LOUD / 2).sum() * WINDOW_S)


def off_db(heard: float, wanted: float) -> float:
    return abs(float(20 * np.log10(max(heard, 1e-4) / wanted)))


def test_a_video_that_loops_goes_on_after_its_end_without_a_gap(
    air: OnAir, view: LiveView, clips: str
) -> None:
    layer = video(f"{clips}/both.webm", loop=True)
    late: list[float] = []
    quiet: list[float] = []
    with air.showing(view, ground=square(GREEN), video=layer):
        for _ in range(ATTEMPTS):
            view.until("that it begins", lambda pixels: shown(pixels) == RED)
            with view.recording() as recording:
                for _ in range(ROUNDS):
                    view.until("its second half", lambda pixels: shown(pixels) == BLUE)
                    view.until("that it begins", lambda pixels: shown(pixels) == RED)
                view.watch(0.3)
            seen = halves(recording)
            assert [colour for colour, *_ in seen] == [RED, BLUE] * ROUNDS + [RED], "nothing else is seen"
            late.append(max(abs(to_s - from_s - HALF_S) for _, from_s, to_s in seen[1:-1]))
            quiet.append(min(quiet_s(recording, to_s - 0.2, to_s + 0.2) for _, _, to_s in seen[1:-1:2]))
            if late[-1] <= FRAMES_S and quiet[-1] < FALLS_SILENT_S:
                break
    assert late[-1] <= FRAMES_S, late
    assert quiet[-1] < FALLS_SILENT_S, quiet


def test_a_video_ends_on_its_last_frame_and_its_sound_with_it_and_begins_anew_with_its_layout(
    air: OnAir, view: LiveView, clips: str
) -> None:
    scene = air.scene(ground=square(GREEN), video=video(f"{clips}/both.webm", volume=0.5))
    other = air.scene(ground=square(GREEN))
    off: list[str] = []
    for _ in range(ATTEMPTS):
        air.select(other)
        view.until("the other layout", lambda pixels: shown(pixels) == GREEN)
        with view.recording() as recording:
            air.select(scene)
            view.until("its second half", lambda pixels: shown(pixels) == BLUE)
            view.watch(HALF_S + STAYS_S)
        assert [colour for colour, *_ in halves(recording)] == [RED, BLUE], "the last frame stays"
        [(_, began_s, changed_s), (_, _, until_s)] = halves(recording)
        late_s = abs(changed_s - began_s - HALF_S)
        ends_s = changed_s + HALF_S
        at_end = tone(recording, ends_s - FALLS_SILENT_S - FRAMES_S - 0.1, ends_s - FALLS_SILENT_S - FRAMES_S)
        after = float(np.abs(recording.sound(ends_s + FRAMES_S, until_s - 0.2)).max())
        if late_s <= FRAMES_S and off_db(at_end, 0.5) <= GAIN_DB and after < SILENT:
            break
        off.append(f"{late_s:.3f} s late; {at_end:.3f}, and then {after:.3f}")
    else:
        raise AssertionError(off)
    for each in (scene, other):
        each.delete()


def test_a_video_has_its_own_size_and_colours_and_its_volume(air: OnAir, view: LiveView, clips: str) -> None:
    layers = {
        "natural": video(f"{clips}/both.webm", loop=True),
        "narrow": video(f"{clips}/violet.mp4", BESIDE, loop=True) | {"width": SMALL[0]},
    }
    both = {"natural": (PLACE, SIZE), "narrow": (BESIDE, SMALL)}

    def is_there(pixels: Pixels) -> bool:
        return shown(pixels) == RED and has(pixels, VIOLET, BESIDE, SMALL)

    with air.showing(view, ground=square(GREEN), **layers) as scene:
        frame = view.until("both", is_there)
        for name, (place, size) in both.items():
            assert displaced_px(frame.pixels, place, size) <= EDGE_PX, name
        for volume in (1.0, 0.25):
            scene.patch("natural", data={"media": layers["natural"]["data"]["media"] | {"volume": volume}})
            heard: list[float] = []
            for _ in range(ATTEMPTS):
                heard.append(tone_at_end(view.watch(HEARD_S + 0.5), HEARD_S) / LOUD)
                if off_db(heard[-1], volume) <= GAIN_DB:
                    break
            assert off_db(heard[-1], volume) <= GAIN_DB, heard
