"""What viewers see and hear of layers beside their geometry: pictures, words, pages, groups, their sound."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import numpy as np
import pytest
from tests.support.media.clicks import CLICK, edges_of
from tests.support.media.live_view import LiveView, Pixels
from tests.support.pages import site
from tests.support.pod_pair import metrics_at
from tests.support.scene import media
from tests.support.scene.camera import tone_at_end
from tests.support.scene.on_air import BLACK, HEIGHT, WIDTH, OnAir, square
from tests.support.scene.picture import Colour
from tests.support.waiting import wait_for

from onair_crds.shapes import JsonObject

pytestmark = pytest.mark.media

BLUE, RED, YELLOW, GREEN, WHITE = (0, 0, 160), (200, 0, 0), (200, 200, 0), (0, 160, 0), (240, 240, 240)
COLOUR, EDGE_PX, GAIN_DB, LEVEL_DB = 4, 1, 1, 1
COLOURS = {"yellow": YELLOW, "green": GREEN}
NEAR = 60
Box = tuple[int, int, int, int]
LEFT_HZ, RIGHT_HZ, LOUD = 440, 1320, 0.5
BEATING_HZ, TOO_LOUD = (440, 445), 0.8
"""Tones 5 Hz apart have their peaks at the same time five times a second, whenever they begin."""
LIMITED_DB, LIMIT_DB = -1, 0.75
"""What a mix that is 4 dB too loud reaches."""
HEARD_S, ATTEMPTS = 0.7, 4
POWER_DB = 3.0
"""The level of a sine, as of its power, is so much below its peak."""
SILENT_DB = -100


def has(pixels: Pixels, colour: Colour, box: Box) -> bool:
    """Whether a box is of one colour, but for its edges."""
    left, top, right, bottom = box
    inner = pixels[top + 3 : bottom - 3, left + 3 : right - 3].astype(int)
    return bool(np.abs(inner - np.array(colour)).max() <= COLOUR)


def box_of(pixels: Pixels, colour: Colour, within: Box) -> Box | None:
    """Left, top, right and bottom of what has a colour, in a part of the picture."""
    left, top, right, bottom = within
    part = pixels[top:bottom, left:right].astype(int)
    rows, columns = np.nonzero(np.abs(part - np.array(colour)).max(axis=2) < NEAR)
    if not len(rows):
        return None
    return (
        int(columns.min()) + left,
        int(rows.min()) + top,
        int(columns.max()) + 1 + left,
        int(rows.max()) + 1 + top,
    )


def same(found: Box | None, wanted: Box) -> bool:
    return (
        found is not None
        and max(abs(one - other) for one, other in zip(found, wanted, strict=True)) <= EDGE_PX
    )


def around(box: Box, px: int = 16) -> Box:
    return max(0, box[0] - px), max(0, box[1] - px), min(WIDTH, box[2] + px), min(HEIGHT, box[3] + px)


BANDS = """<svg xmlns="http://www.w3.org/2000/svg" width="120" height="60">
<rect width="120" height="60" fill="rgb(200,0,0)"/>
<rect x="30" width="60" height="60" fill="rgb(200,200,0)"/></svg>"""
"""A picture of two shapes to one: yellow in the middle, red on both sides."""
PICTURES: dict[str, tuple[JsonObject, Box, Box]] = {
    "natural": ({"x": 20, "y": 20}, (20, 20, 140, 80), (50, 20, 110, 80)),
    "width": ({"x": 180, "y": 20, "width": 60}, (180, 20, 240, 50), (195, 20, 225, 50)),
    "height": ({"x": 300, "y": 20, "height": 90}, (300, 20, 480, 110), (345, 20, 435, 110)),
    "fill": ({"x": 20, "y": 140, "width": 60, "height": 60}, (20, 140, 80, 200), (35, 140, 65, 200)),
    "contain": (
        {"x": 180, "y": 140, "width": 60, "height": 60, "fit": "contain"},
        (180, 155, 240, 185),
        (195, 155, 225, 185),
    ),
    "cover": (
        {"x": 300, "y": 140, "width": 60, "height": 60, "fit": "cover"},
        (300, 140, 360, 200),
        (300, 140, 360, 200),
    ),
}
"""Fields of a layer, and where the picture and its middle are to be."""


def test_pictures_have_their_own_size_or_are_fitted_into_their_box(air: OnAir, view: LiveView) -> None:
    with site({"/bands.svg": ("image/svg+xml", BANDS.encode())}) as address:
        layers = {}
        for name, (fields, *_) in PICTURES.items():
            fit = {key: value for key, value in fields.items() if key == "fit"}
            place = {key: value for key, value in fields.items() if key != "fit"}
            layers[name] = {
                "type": "image",
                "data": {"media": {"url": f"{address}/bands.svg"}, **fit},
                **place,
            }

        def found(pixels: Pixels) -> dict[str, tuple[Box | None, Box | None]]:
            return {
                name: (other_than_ground(pixels, around(box)), box_of(pixels, YELLOW, around(box)))
                for name, (_, box, _) in PICTURES.items()
            }

        with air.showing(view, ground=square(BLUE), **layers):
            frame = view.until("all of them", lambda pixels: all(map(all, found(pixels).values())))
    for name, (whole, middle) in found(frame.pixels).items():
        _, box, inner = PICTURES[name]
        assert same(whole, box), (name, whole)
        assert same(middle, inner), (name, middle)
        assert has(frame.pixels, YELLOW, inner), name


def test_another_picture_takes_the_place_of_one_without_a_gap(air: OnAir, view: LiveView) -> None:
    box = (20, 20, 140, 80)
    files = {f"/{name}.png": ("image/png", media.png(120, 60, each)) for name, each in COLOURS.items()}
    with site(files) as address:

        def picture(name: str) -> JsonObject:
            return {"media": {"url": f"{address}/{name}.png"}}

        first = {"type": "image", "x": 20, "y": 20, "data": picture("yellow")}
        with air.showing(view, ground=square(BLUE), picture=first) as scene:
            view.until("the one", lambda pixels: has(pixels, YELLOW, box))
            with view.recording() as recording:
                scene.patch("picture", data=picture("green"))
                view.until("the other", lambda pixels: has(pixels, GREEN, box))
    assert all(
        box_of(each.pixels, YELLOW, box) or box_of(each.pixels, GREEN, box) for each in recording.frames
    )


def other_than_ground(pixels: Pixels, within: Box) -> Box | None:
    """Where something else than the ground is, in a part of the picture."""
    left, top, right, bottom = within
    off = np.abs(pixels[top:bottom, left:right].astype(int) - np.array(BLUE)).max(axis=2)
    rows, columns = np.nonzero(off > NEAR)
    if not len(rows):
        return None
    return (
        int(columns.min()) + left,
        int(rows.min()) + top,
        int(columns.max()) + 1 + left,
        int(rows.max()) + 1 + top,
    )


def test_a_type_that_is_unknown_draws_nothing_but_its_children(air: OnAir, view: LiveView) -> None:
    unknown = {"type": "whiteboard", "x": 200, "y": 80, "width": 200, "height": 200}
    unknown["data"] = {"backgroundColor": f"rgb{RED}", "url": "http://127.0.0.1:8450/", "text": "words"}
    # A place that is not given is 0
    child = square(GREEN, width=100, height=60) | {"parentId": "index:1", "x": None, "y": None, "scale": 1.5}
    wanted = (200, 80, 350, 170)
    with air.showing(view, ground=square(BLUE), unknown=unknown, child=child):
        frame = view.until("the child", lambda pixels: box_of(pixels, GREEN, (0, 0, WIDTH, HEIGHT)))
    assert same(box_of(frame.pixels, GREEN, (0, 0, WIDTH, HEIGHT)), wanted)
    assert same(other_than_ground(frame.pixels, (0, 0, WIDTH, HEIGHT)), wanted), "nothing else is drawn"


def test_a_layout_of_another_shape_is_as_large_as_it_fits_in_the_middle_on_black(
    air: OnAir, view: LiveView
) -> None:
    scene = air.scene(ground=square(BLUE, width=400, height=400), mark=square(YELLOW, 100, 200, 200, 100))
    scene.update(width=400, height=400)
    air.select(scene)
    wide = (140, 0, 500, 360)
    frame = view.until("the layout", lambda pixels: same(box_of(pixels, BLUE, (0, 0, WIDTH, HEIGHT)), wide))
    assert same(box_of(frame.pixels, YELLOW, (0, 0, WIDTH, HEIGHT)), (230, 180, 410, 270))
    assert max(frame.pixels[:, :136].max(), frame.pixels[:, 504:].max()) <= BLACK
    scene.delete()


LINE_PX = 40
STYLE = {"color": f"rgb{YELLOW}", "fontFamily": "monospace", "fontSize": LINE_PX, "lineHeight": 1}
LETTER_PX = 0.602 * LINE_PX
"""Of a monospaced font: as wide as this, whichever letter; a full block is as wide as that."""


def words(x: int, y: int, text: str = "█", **style: object) -> JsonObject:
    data = {"text": text, "style": STYLE | style}
    return {"type": "text", "x": x, "y": y, "width": 200, "height": 100, "data": data}


def test_words_are_styled_as_their_style_says(air: OnAir, view: LiveView) -> None:
    layers = {
        "plain": words(20, 20),
        "right": words(240, 20, textAlign="right", backgroundColor=f"rgb{RED}"),
        "low": words(20, 140, verticalAlign="bottom"),
        "middle": words(240, 140, verticalAlign="middle"),
        "spaced": words(20, 250, "██", letterSpacing=30),
        "markup": words(240, 250, "<b>█</b>", fontSize=20),
    }
    boxes: dict[str, Box] = {
        name: (each["x"], each["y"], each["x"] + 200, each["y"] + 100) for name, each in layers.items()
    }

    def ink(pixels: Pixels, name: str) -> Box:
        found = box_of(pixels, YELLOW, around(boxes[name], 10))
        assert found, name
        return found

    with air.showing(view, ground=square(BLUE), **layers):
        frame = view.until(
            "all of them", lambda pixels: all(box_of(pixels, YELLOW, each) for each in boxes.values())
        ).pixels
    plain, right, low, middle, spaced, markup = (ink(frame, name) for name in layers)
    assert abs(plain[2] - plain[0] - LETTER_PX) <= EDGE_PX
    assert abs(right[2] - 440) <= EDGE_PX
    assert same(other_than_ground(frame, around(boxes["right"])), boxes["right"]), "its ground fills the box"
    assert has(frame, RED, (240, 20, 400, 120))
    # A full block is taller than its line, and cut off where it reaches over the box
    assert abs(low[1] - middle[1] - (100 - LINE_PX) / 2) <= EDGE_PX
    assert abs(middle[3] - 140 - (plain[3] - 20) - (100 - LINE_PX) / 2) <= EDGE_PX
    assert abs(spaced[2] - spaced[0] - 2 * LETTER_PX - 30) <= 2 * EDGE_PX
    assert markup[2] - markup[0] > 6 * LETTER_PX / 2, "words are no markup"


LATER = """<!doctype html><body style="margin: 0; background: rgb(200, 0, 0)"><script>
setTimeout(() => { document.body.style.background = 'rgb(0, 160, 0)'; }, 1000);
</script>"""
"""A page that is red at first, and green once it has been there for a while."""
KEPT, ANEW = (20, 20, 220, 120), (300, 20, 500, 120)


def test_a_page_begins_anew_each_time_unless_it_is_kept_loaded(air: OnAir, view: LiveView) -> None:
    with site({"/page": ("text/html", LATER.encode())}) as address:

        def page(box: Box, **data: str) -> JsonObject:
            left, top, right, bottom = box
            size = {"x": left, "y": top, "width": right - left, "height": bottom - top}
            return {"type": "webpage", **size, "data": {"url": f"{address}/page", **data}}

        def both(pixels: Pixels, kept: Colour, anew: Colour) -> bool:
            return has(pixels, kept, KEPT) and has(pixels, anew, ANEW)

        layers = {"kept": page(KEPT, mode="keep-loaded"), "anew": page(ANEW)}
        with air.showing(view, ground=square(BLUE), **layers) as scene:
            view.until("both have been there for a while", lambda pixels: both(pixels, GREEN, GREEN))
            scene.batch(kept={"hidden": True}, anew={"hidden": True})
            view.until("neither", lambda pixels: both(pixels, BLUE, BLUE))
            with view.recording() as recording:
                scene.batch(kept={"hidden": False}, anew={"hidden": False})
                view.until("the one as it was", lambda pixels: both(pixels, GREEN, RED))
                view.until("both again", lambda pixels: both(pixels, GREEN, GREEN))
    seen = [box_of(each.pixels, RED, KEPT) for each in recording.frames]
    assert not any(seen), "it goes on"


@pytest.fixture(scope="module")
def tones() -> Iterator[str]:
    """The address of black videos with a tone."""
    peaks = {LEFT_HZ: LOUD, RIGHT_HZ: LOUD}
    files = {
        f"/{hz}.webm": ("video/webm", media.webm(*[(0, 0, 0)] * 10, rate=2, tone_hz=hz, tone_peak=peak))
        for hz, peak in peaks.items()
    }
    files |= {
        f"/loud-{hz}.webm": (
            "video/webm",
            media.webm(*[(0, 0, 0)] * 10, rate=2, tone_hz=hz, tone_peak=TOO_LOUD),
        )
        for hz in BEATING_HZ
    }
    with site(files) as address:
        yield address


def tone(url: str, volume: float = 1, **fields: object) -> JsonObject:
    data = {"media": {"url": url, "volume": volume, "loop": True}}
    return {"type": "video", "width": 16, "height": 9, "data": data, **fields}


def until_heard(view: LiveView, what: str, check: Callable[[dict[int, float]], bool]) -> None:
    """Waits until the tones are as they are to be, as parts of full scale."""
    for _ in range(ATTEMPTS):
        recording = view.watch(HEARD_S + 0.3)
        heard = {hz: tone_at_end(recording, HEARD_S, hz) for hz in (LEFT_HZ, RIGHT_HZ)}
        if check(heard):
            return
    raise AssertionError(f"not heard: {what}; {heard}")


def db(gain: float) -> float:
    return float(20 * np.log10(max(gain, 1e-5)))


def levels(air: OnAir) -> dict[str, float]:
    """What the pod says of how loud each layer is."""
    start, end = 'onair_encoder_layer_level_dbfs{layer="', '"}'
    found = metrics_at(air.pod.address).items()
    return {name[len(start) : -len(end)]: value for name, value in found if name.startswith(start)}


def until_level(air: OnAir, layer: str, amplitude: float) -> None:
    """Waits for the level of a tone: one that is measured while the tone begins is lower."""
    wait_for(
        lambda: abs(levels(air).get(layer, SILENT_DB) - (db(amplitude) - POWER_DB)) <= LEVEL_DB,
        f"the level of {layer}",
        state=lambda: levels(air),
    )


def test_a_transparent_layer_is_heard_and_what_is_in_a_hidden_one_is_not(
    air: OnAir, view: LiveView, tones: str
) -> None:
    layers = {
        "seen through": tone(f"{tones}/{LEFT_HZ}.webm", 0.5, opacity=0),
        "group": {"type": "group", "hidden": True},
        "inner": tone(f"{tones}/{RIGHT_HZ}.webm", parentId="index:2"),
    }
    with air.showing(view, ground=square(BLUE), **layers) as scene:
        view.until("the ground", lambda pixels: has(pixels, BLUE, (0, 0, WIDTH, HEIGHT)))
        until_heard(
            view,
            "the one alone",
            lambda heard: abs(db(heard[LEFT_HZ] / LOUD / 0.5)) <= GAIN_DB and heard[RIGHT_HZ] < LOUD / 100,
        )
        seen_through, inner = scene.ids["seen through"], scene.ids["inner"]
        until_level(air, seen_through, LOUD * 0.5)
        assert levels(air).get(inner, SILENT_DB) <= SILENT_DB
        scene.patch("group", hidden=False)
        until_heard(view, "both", lambda heard: abs(db(heard[RIGHT_HZ] / LOUD)) <= GAIN_DB)
        until_level(air, inner, LOUD)


def test_what_is_louder_than_full_scale_is_limited_and_what_is_not_is_as_it_is(
    air: OnAir, view: LiveView, tones: str
) -> None:
    first, second = (tone(f"{tones}/loud-{hz}.webm") for hz in BEATING_HZ)
    with air.showing(view, ground=square(BLUE), first=first, second=second) as scene:
        peaks: list[float] = []
        for _ in range(ATTEMPTS):
            recording = view.watch(2)
            end_s = recording.frames[-1].at_s - 0.2
            peaks.append(db(float(np.abs(recording.sound(end_s - 1, end_s)).max())))
            if abs(peaks[-1] - LIMITED_DB) <= LIMIT_DB:
                break
        assert abs(peaks[-1] - LIMITED_DB) <= LIMIT_DB, peaks
        scene.patch("second", hidden=True)
        alone: list[float] = []
        for _ in range(ATTEMPTS):
            alone.append(db(tone_at_end(view.watch(HEARD_S + 0.5), HEARD_S, BEATING_HZ[0]) / TOO_LOUD))
            if abs(alone[-1]) <= LEVEL_DB:
                break
        assert abs(alone[-1]) <= LEVEL_DB, alone


def test_what_is_hidden_falls_silent_without_a_click(air: OnAir, view: LiveView, tones: str) -> None:
    with air.showing(view, ground=square(BLUE), tone=tone(f"{tones}/{LEFT_HZ}.webm")) as scene:
        until_heard(view, "the tone", lambda heard: abs(db(heard[LEFT_HZ] / LOUD)) <= GAIN_DB)
        softest = {True: math.inf, False: math.inf}
        for _ in range(ATTEMPTS):
            with view.recording() as recording:
                began_s = view.watch(0.3).frames[-1].at_s
                for hidden in (True, False, True, False):
                    scene.patch("tone", hidden=hidden)
                    view.watch(0.4)
            for begins, click in edges_of(recording.sound(began_s, recording.frames[-1].at_s - 0.2), LOUD):
                softest[begins] = min(softest[begins], click)
            if max(softest.values()) < CLICK:
                break
        assert max(softest.values()) < CLICK, softest
