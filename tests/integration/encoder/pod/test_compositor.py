"""Scenes at the far end: the pod's own page, captured, encoded, delivered and decoded again."""

from __future__ import annotations

import warnings
from itertools import islice
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.support.delivery.rtmp_container import RtmpContainer
from tests.support.media.stream import loudness, rgb_frames
from tests.support.pages import site
from tests.support.pod_pair import PodPair, programme
from tests.support.scene import media
from tests.support.scenes import layout, scene

from onair_crds.contract.pod import COMPOSITOR_URL
from onair_crds.contract.program import Program
from onair_crds.contract.scene import ProgramLayout, SceneLayer

pytestmark = pytest.mark.media

WIDTH, HEIGHT, RATE = 640, 360, 30
COLOUR, EDGE_PX = 4, 1
"""How far a colour and an edge may be off."""
FRAMES = 2
"""How far a point in time may be off."""
ATTEMPTS = 3
"""A machine that is busy paints late now and then; how late is in the warnings of a run."""
MIDDLE = slice(HEIGHT // 2 - 8, HEIGHT // 2 + 8), slice(WIDTH // 2 - 8, WIDTH // 2 + 8)
GAIN_DB = 1
MOST_S = 12
"""What is read first is as old as the last key frame, and as what was read to know the stream."""
Box = tuple[int, int, int, int]


def stage(version: int, *layers: SceneLayer, id_: str = "stage", **fields: Any) -> ProgramLayout:
    root = SceneLayer(id="root", type="root", children=[each.id for each in layers])
    return layout(version, root, *layers, id=id_, **{"width": WIDTH, "height": HEIGHT, **fields})


def square(id_: str, colour: str, **fields: Any) -> SceneLayer:
    return SceneLayer(id=id_, type="square", data={"backgroundColor": colour}, **fields)


def shown(far_end: RtmpContainer, *layouts: ProgramLayout, selected: str = "stage") -> Program:
    wanted = programme(COMPOSITOR_URL, far_end, "scene", scene=scene(*layouts, selected_layout_id=selected))
    video = wanted.video.model_copy(update={"bitrate_bps": 3_000_000})
    return wanted.model_copy(update={"video": video})


def box_of(frame: NDArray[np.uint8], colour: tuple[int, int, int]) -> Box:
    """Where more of this colour is than of any other."""
    off = np.abs(frame.astype(int) - np.array(colour)).max(axis=2)
    rows, columns = np.nonzero(off < 100)
    left, top = int(columns.min()), int(rows.min())
    return left, top, int(columns.max()) + 1, int(rows.max()) + 1


def test_layers_are_at_the_far_end_where_their_rules_say(pair: PodPair, far_end: RtmpContainer) -> None:
    page = b"<body style='margin: 0; background: #00f'>"
    files = {
        "/yellow.png": ("image/png", media.png(80, 40, (255, 255, 0))),
        "/page": ("text/html", page),
        "/clip.webm": ("video/webm", media.webm((0, 255, 255), (0, 255, 255))),
    }
    with site(files) as address:
        picture, clip = ({"media": {"url": f"{address}/{name}"}} for name in ("yellow.png", "clip.webm"))
        words = {"text": "█", "style": {"color": "#f0f", "fontSize": 80}}
        layers = [
            square("square", "#f00", x=20, y=20, width=100, height=60),
            square("turned", "#fff", x=200, y=20, width=100, height=60, rotation=90),
            SceneLayer(id="image", type="image", x=20, y=120, data=picture, scale=1.5),
            SceneLayer(
                id="page", type="webpage", x=200, y=120, width=120, height=80, data={"url": f"{address}/page"}
            ),
            SceneLayer(id="video", type="video", x=20, y=220, width=160, height=90, data=clip),
            square("faded", "#0f0", x=400, y=20, width=100, height=100, opacity=0.5),
            SceneLayer(id="text", type="text", x=400, y=150, width=200, height=100, data=words),
        ]
        pair.put(shown(far_end, stage(1, *layers))).raise_for_status()
        pair.wait_phase("running")
        pair.wait_connected("scene")
        *_, frame = islice(rgb_frames(far_end.read_url("scene"), WIDTH, HEIGHT), RATE)
    for name, colour, box in (
        ("square", (255, 0, 0), (20, 20, 120, 80)),
        ("turned", (255, 255, 255), (220, 0, 280, 100)),
        ("image", (255, 255, 0), (20, 120, 140, 180)),
        ("page", (0, 0, 255), (200, 120, 320, 200)),
        ("video", (0, 255, 255), (20, 220, 180, 310)),
    ):
        found = box_of(frame, colour)
        assert max(abs(one - other) for one, other in zip(found, box, strict=True)) <= EDGE_PX, (name, found)
    for at, colour in (((50, 70), (255, 0, 0)), ((50, 250), (255, 255, 255)), ((70, 450), (0, 128, 0))):
        assert np.abs(frame[at].astype(int) - np.array(colour)).max() <= COLOUR, (at, frame[at])
    inside = {
        "image": ((150, 80), (255, 255, 0)),
        "page": ((160, 260), (0, 0, 255)),
        "turned": ((50, 250), (255, 255, 255)),
        "video": ((265, 100), (0, 255, 255)),
    }
    for name, (at, colour) in inside.items():
        assert np.abs(frame[at].astype(int) - np.array(colour)).max() <= COLOUR, (name, frame[at])
    assert not pair.status().failed_layers


def test_words_are_at_the_far_end_in_their_colour_size_and_place(
    pair: PodPair, far_end: RtmpContainer
) -> None:
    """Full blocks: a letter that is as wide as its box, whose edges can be measured."""
    style = {"color": "#f0f", "fontSize": 80, "fontFamily": "monospace", "lineHeight": 1, "whiteSpace": "pre"}

    def words(id_: str, text: str, **fields: Any) -> SceneLayer:
        return SceneLayer(id=id_, type="text", data={"text": text, "style": style}, **fields)

    layers = [
        words("whole", "██", x=40, y=40, width=300, height=100),
        words("shrunk", "██████████", x=40, y=200, width=200, height=100),
    ]
    pair.put(shown(far_end, stage(1, *layers))).raise_for_status()
    pair.wait_phase("running")
    pair.wait_connected("scene")
    *_, frame = islice(rgb_frames(far_end.read_url("scene"), WIDTH, HEIGHT), RATE)
    whole, shrunk = box_of(frame[:180], (255, 0, 255)), box_of(frame[180:], (255, 0, 255))
    letter = whole[2] - whole[0]
    assert abs(whole[0] - 40) <= EDGE_PX
    assert abs(letter - 2 * 0.602 * 80) <= 2 * EDGE_PX, "a monospaced letter is 0.602 of its size wide"
    assert abs(shrunk[0] - 40) <= EDGE_PX
    assert 190 <= shrunk[2] - shrunk[0] <= 200 + EDGE_PX, "a line of ten letters fits into the box"
    for left, top, right, bottom in (whole, (shrunk[0], shrunk[1] + 180, shrunk[2], shrunk[3] + 180)):
        centre = frame[(top + bottom) // 2, (left + right) // 2].astype(int)
        assert np.abs(centre - np.array((255, 0, 255))).max() <= COLOUR, centre


def test_order_nesting_hidden_and_detached_layers_and_no_scene_are_at_the_far_end_as_their_rules_say(
    pair: PodPair, far_end: RtmpContainer
) -> None:
    size = {"width": 100, "height": 100}
    layers = [
        square("below", "#f00", x=20, y=20, **size),
        square("above", "#00f", x=70, y=20, **size),
        square("group", "#fff", x=300, y=20, children=["inner", "unseen"], scale=2, opacity=0.5, **size),
        square("curtain", "#0f0", x=20, y=200, hidden=True, children=["veiled"], **size),
    ]
    others = [
        square("inner", "#000", x=25, y=25, width=50, height=50),
        square("unseen", "#f00", hidden=True, **size),
        square("veiled", "#0f0", **size),
        square("detached", "#0f0", x=150, y=200, **size),
    ]
    made = stage(1, *layers)
    made = made.model_copy(update={"layers": [*made.layers, *others]})
    pair.put(shown(far_end, made)).raise_for_status()
    pair.wait_phase("running")
    pair.wait_connected("scene")
    *_, frame = islice(rgb_frames(far_end.read_url("scene"), WIDTH, HEIGHT), RATE)
    assert np.abs(np.array(box_of(frame, (255, 0, 0))) - (20, 20, 70, 120)).max() <= EDGE_PX, "it is below"
    assert np.abs(np.array(box_of(frame, (0, 0, 255))) - (70, 20, 170, 120)).max() <= EDGE_PX
    gray = box_of(frame[:, 290:], (128, 128, 128))
    assert np.abs(np.array(gray) - (10, 20, 210, 220)).max() <= EDGE_PX, "a group's scale is its children's"
    for (x, y), colour in (((320, 40), 128), ((400, 120), 0), ((70, 250), 0), ((200, 250), 0)):
        assert np.abs(frame[y, x].astype(int) - colour).max() <= COLOUR, ((x, y), frame[y, x])
    dark = frame[:220, 300:500].max(axis=2) < 60
    rows, columns = np.nonzero(dark[20:])
    inner = (columns.min(), rows.min(), columns.max() + 1, rows.max() + 1)
    assert np.abs(np.array(inner) - (50, 50, 150, 150)).max() <= EDGE_PX, inner
    # Without a scene it is drawn by the same rules, from a root of its own
    white = square("white", "#fff", x=60, y=40, width=100, height=80)
    own_root = SceneLayer(id="own-root", type="root", x=20, y=30, scale=2, children=["white"])
    own = layout(2, white, own_root, id="own", type="SCENELESS", width=WIDTH, height=HEIGHT)
    pair.put(shown(far_end, made, own, selected="own")).raise_for_status()
    frames = islice(rgb_frames(far_end.read_url("scene"), WIDTH, HEIGHT), 10 * RATE)
    frame = next(each for each in frames if each[150, 200].min() >= 255 - COLOUR)
    assert np.abs(np.array(box_of(frame, (255, 255, 255))) - (140, 110, 340, 270)).max() <= EDGE_PX


def test_a_crossfade_takes_its_time_on_air(pair: PodPair, far_end: RtmpContainer) -> None:
    coming = [{"fromLayoutIds": [], "crossfade": {"durationMs": 1000}}]
    layouts = [stage(1, square("a", "#f00")), stage(2, square("b", "#00f"), id_="other", transitions=coming)]
    pair.put(shown(far_end, *layouts)).raise_for_status()
    pair.wait_phase("running")
    pair.wait_connected("scene")
    for _ in range(ATTEMPTS):
        if (late := crossfade_off(pair, far_end, layouts)) <= FRAMES:
            return
        warnings.warn(f"a crossfade was {late:.1f} frames from where it was to be", stacklevel=1)
        pair.put(shown(far_end, *layouts)).raise_for_status()
        pair.wait_for(lambda: far_end_is_red(far_end), "red again", 20)
    raise AssertionError(f"{late:.1f} frames from where it was to be")


def far_end_is_red(far_end: RtmpContainer) -> bool:
    seen = rgb_frames(far_end.read_url("scene"), WIDTH, HEIGHT)
    frame = next(seen)
    seen.close()
    return bool(frame[MIDDLE][..., 2].mean() < 255 * 0.02)


def is_blue(frame: NDArray[np.uint8]) -> bool:
    return bool(frame[MIDDLE][..., 2].mean() > 255 * 0.98)


def crossfade_off(pair: PodPair, far_end: RtmpContainer, layouts: list[ProgramLayout]) -> float:
    """How far a crossfade of a second from red to blue is from its time, in frames, for 95 % of them."""
    seen = rgb_frames(far_end.read_url("scene"), WIDTH, HEIGHT)
    frames = [next(seen)]
    pair.put(shown(far_end, *layouts, selected="other")).raise_for_status()
    for frame in islice(seen, MOST_S * RATE):
        frames.append(frame)
        if is_blue(frame) and is_blue(frames[-RATE // 2]):
            break
    seen.close()
    blue = np.array([frame[MIDDLE][..., 2].mean() / 255 for frame in frames])
    assert blue[0] < 0.02 < 0.98 < blue[-1]
    changing = np.nonzero((blue > 0.04) & (blue < 0.96))[0]
    assert len(changing) > RATE // 2, blue
    # At each moment as far as the time that has gone by, from where the line begins
    began = np.median(changing - blue[changing] * RATE)
    return float(np.percentile(np.abs(changing - began - blue[changing] * RATE), 95))


def test_a_volume_is_heard_at_the_far_end_and_a_hidden_layer_is_not(
    pair: PodPair, far_end: RtmpContainer
) -> None:
    clip = media.webm(*[(0, 0, 0)] * 10, rate=2, tone_hz=440)
    with site({"/tone.webm": ("video/webm", clip)}) as address:
        data = {"media": {"url": f"{address}/tone.webm", "volume": 0.5, "loop": True}}
        tone = SceneLayer(id="tone", type="video", width=160, height=90, data=data)
        pair.put(shown(far_end, stage(1, tone))).raise_for_status()
        pair.wait_phase("running")
        pair.wait_connected("scene")
        heard = loudness(far_end.read_url("scene"), 2.0)
        # Half of half of full scale, on two channels that are mixed to one by their power
        assert abs(20 * np.log10(heard / (0.25 * np.sqrt(2)))) <= GAIN_DB, heard
        pair.put(shown(far_end, stage(2, tone.model_copy(update={"hidden": True})))).raise_for_status()
        pair.wait_for(lambda: loudness(far_end.read_url("scene"), 0.5) < 0.01, "silent", 20)
