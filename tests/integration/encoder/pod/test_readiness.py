"""A show begins with its layers: until they are there the slate is on air; what never comes is given up."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
import pytest
from tests.support.delivery.rtmp_container import RtmpContainer
from tests.support.media.live_view import LiveView, Pixels
from tests.support.media.stream import is_slate
from tests.support.pages import site
from tests.support.pod_pair import PodPair, programme
from tests.support.scene import media
from tests.support.scene.picture import Colour
from tests.support.scenes import layout, scene

from onair_crds.contract.pod import COMPOSITOR_URL
from onair_crds.contract.program import Program
from onair_crds.contract.scene import SceneLayer

pytestmark = pytest.mark.media

WIDTH, HEIGHT = 640, 360
BLUE, YELLOW = (0, 0, 160), (200, 200, 0)
COLOUR, SIZE = 4, (160, 90)
SLATE_AFTER_MS = 1500
LATE_S = 40.0
"""A picture that never comes is given up after 8 s."""


@dataclass
class LatePicture:
    """A picture whose server gives it when a test says so."""

    url: str = ""
    asked: threading.Event = field(default_factory=threading.Event)
    given: threading.Event = field(default_factory=threading.Event)

    def wait(self, _: str) -> None:
        self.asked.set()
        self.given.wait(120)


@pytest.fixture
def picture() -> Iterator[LatePicture]:
    late = LatePicture()
    with site({"/late.png": ("image/png", media.png(*SIZE, YELLOW))}, before=late.wait) as address:
        late.url = f"{address}/late.png"
        try:
            yield late
        finally:
            late.given.set()


def shown(far_end: RtmpContainer, url: str) -> Program:
    """A scene of a ground and a picture; the slate is on air soon where that is not there."""
    layers = [
        SceneLayer(id="root", type="root", children=["ground", "picture"]),
        SceneLayer(id="ground", type="square", data={"backgroundColor": f"rgb{BLUE}"}),
        SceneLayer(id="picture", type="image", data={"media": {"url": url}}),
    ]
    stage = scene(layout(1, *layers, width=WIDTH, height=HEIGHT))
    return programme(COMPOSITOR_URL, far_end, "ready", scene=stage, page_timeout_ms=SLATE_AFTER_MS)


def has(pixels: Pixels, x: int, y: int, colour: Colour) -> bool:
    return bool(np.abs(pixels[y, x].astype(int) - np.array(colour)).max() <= COLOUR)


def what(pixels: Pixels) -> str:
    """What is on air."""
    if is_slate(pixels.mean(axis=2)[None].astype(np.uint8)):
        return "slate"
    if has(pixels, 400, 250, BLUE) and has(pixels, 80, 45, YELLOW):
        return "whole"
    return "without" if has(pixels, 400, 250, BLUE) and has(pixels, 80, 45, BLUE) else "neither"


def on_the_slate(pair: PodPair, far_end: RtmpContainer, picture: LatePicture) -> None:
    pair.put(shown(far_end, picture.url)).raise_for_status()
    pair.wait_for(picture.asked.is_set, "the picture is asked for", LATE_S)
    assert pair.wait_phase("running").on_slate
    pair.wait_connected("ready")


def test_the_slate_is_on_air_until_all_is_there(
    pair: PodPair, far_end: RtmpContainer, picture: LatePicture
) -> None:
    on_the_slate(pair, far_end, picture)
    with LiveView(far_end.rtmp_url("ready")) as view:
        view.until("the slate", lambda pixels: what(pixels) == "slate")
        with view.recording() as recording:
            view.watch(0.5)
            picture.given.set()
            view.until("the scene", lambda pixels: what(pixels) == "whole", LATE_S)
    seen = [what(each.pixels) for each in recording.frames]
    first = seen.index("whole")
    assert set(seen[:first]) == {"slate"}, seen
    assert set(seen[first:]) == {"whole"}


def test_what_never_comes_is_given_up_and_shown_once_it_comes(
    pair: PodPair, far_end: RtmpContainer, picture: LatePicture
) -> None:
    on_the_slate(pair, far_end, picture)
    with LiveView(far_end.rtmp_url("ready")) as view:
        view.until("the slate", lambda pixels: what(pixels) == "slate")
        view.until("the scene without it", lambda pixels: what(pixels) == "without", LATE_S)
        picture.given.set()
        view.until("the scene with it", lambda pixels: what(pixels) == "whole", LATE_S)
