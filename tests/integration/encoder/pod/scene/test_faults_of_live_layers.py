"""What viewers see of a source and a guest while programs that they come by are away, and afterwards."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
import pytest
from tests.support.media.live_view import LiveRecording, LiveView, Pixels
from tests.support.pages import site
from tests.support.rooms.member import plain_camera
from tests.support.scene import camera, media
from tests.support.scene.camera import Camera, Clip, tone_at_end
from tests.support.scene.on_air import WIDTH, OnAir, square
from tests.support.scene.picture import Colour
from tests.support.waiting import wait_for

from onair_crds.shapes import JsonObject

pytestmark = pytest.mark.media

BLUE, RED, PINK, TEAL, GREEN = (0, 0, 160), (200, 0, 0), (208, 0, 208), (16, 144, 144), (0, 160, 0)
COLOUR, GAIN_DB = 4, 1
NEAR = 60
"""A colour that has just changed takes some frames to be exact."""
AWAY_S = 40.0
BACK_S = 60.0
"""How soon what a test has ended is back, on a busy machine."""
STILL_S, HEARD_S, ATTEMPTS = 1.5, 0.7, 4
CLIP_S = 240
MARK_PX, SIZE = 100, (160, 90)
SOURCE, GUEST = (40, 200), (400, 200)
CROSSFADE_MS = 5000


@pytest.fixture(scope="module")
def clip(tmp_path_factory: pytest.TempPathFactory) -> Clip:
    return camera.clip(tmp_path_factory.mktemp("clip") / "orange.flv", (208, 112, 16), CLIP_S)


@pytest.fixture(scope="module")
def slate() -> Iterator[str]:
    """The address of a picture."""
    with site({"/slate.png": ("image/png", media.png(*SIZE, PINK))}) as address:
        yield f"{address}/slate.png"


@dataclass(frozen=True)
class Live:
    """A source and a guest, who are on air, and the layers that show them."""

    layers: dict[str, JsonObject]
    pushing: Camera
    clip: Clip

    def shows(self, pixels: Pixels, mark: int, ground: Colour = BLUE, *, exactly: bool = True) -> bool:
        """Whether both are seen, and the mark at its place.

        Args:
            exactly: all of the layers in their colours, and nothing else but the ground.
        """
        off = COLOUR if exactly else NEAR
        live = is_all(pixels, SOURCE, self.clip.colour, off) and is_all(pixels, GUEST, TEAL, off)
        return live and mark_of(pixels, ground, off) == mark

    def shown_again(self, pixels: Pixels, mark: int) -> bool:
        """Likewise, while the place of the former publisher may not be free yet."""
        self.pushing.again()
        return self.shows(pixels, mark)


@contextmanager
def live_layers(air: OnAir, clip: Clip, slate: str, name: str) -> Iterator[Live]:
    """A source that is pushed, and a guest of the room, of this name."""
    id_, url = air.source()
    token = air.room_token(air.guest(name), name)
    source = {"source": {"id": id_, "volume": 0.5}, "disconnectedSlate": {"url": slate}}
    guest = {"webrtc": {"id": name, "type": "webcam"}, "onDisconnect": "hide"}
    layers = {"source": placed("source", SOURCE, source), "guest": placed("webrtc", GUEST, guest)}
    # Past the facade: it is away for the encoder, and not for who joined by another replica of it
    with plain_camera(air.rooms.url, token, TEAL), Camera(url, clip) as pushing:
        yield Live(layers, pushing, clip)


def placed(type_: str, place: tuple[int, int], data: JsonObject) -> JsonObject:
    return {"type": type_, "x": place[0], "y": place[1], "width": SIZE[0], "height": SIZE[1], "data": data}


def is_all(pixels: Pixels, place: tuple[int, int], colour: Colour, off: int = COLOUR) -> bool:
    """Whether a layer is of one colour all over, but for its edge."""
    (x, y), (width, height) = place, SIZE
    inner = pixels[y + 4 : y + height - 4, x + 4 : x + width - 4].astype(int)
    return bool(np.abs(inner - np.array(colour)).max() <= off)


def mark_of(pixels: Pixels, ground: Colour = BLUE, off: int = COLOUR) -> int | None:
    """Where the mark is, whole, with the ground on both sides of it."""
    row = pixels[MARK_PX // 2].astype(int)
    there = np.abs(row - np.array(RED)).max(axis=1) <= off
    around = np.abs(row - np.array(ground)).max(axis=1) <= off
    columns = np.nonzero(there)[0]
    # Some columns on each side are soft, once encoded
    if not len(columns) or len(columns) < MARK_PX - 4 or not (there | around).sum() >= WIDTH - 8:
        return None
    return round(float(columns.mean()) - MARK_PX / 2 + 0.5)


def marks(live: Live, recording: LiveRecording) -> list[int | None]:
    """Where the mark was, one after the other, while both live layers were seen on each frame."""
    frames = [each.pixels for each in recording.frames]
    without = [number for number, each in enumerate(frames) if not seen_of(live, each)]
    assert not without, f"{without} of {len(frames)}"
    return [place for place, _ in itertools.groupby(mark_of(each, off=NEAR) for each in frames)]


def seen_of(live: Live, pixels: Pixels) -> bool:
    return is_all(pixels, SOURCE, live.clip.colour, NEAR) and is_all(pixels, GUEST, TEAL, NEAR)


def edited(air: OnAir, layout: str, layer: str, x: int) -> None:
    """Moves a layer as `kubectl edit` does."""
    layers = air.resources.get("layouts", layout)["spec"]["layers"]
    moved = [{**each, "x": x} if each["id"] == layer else each for each in layers]
    air.resources.patch("layouts", layout, {"spec": {"layers": moved}})


def marked(colour: Colour = BLUE) -> dict[str, JsonObject]:
    return {"ground": square(colour), "mark": square(RED, width=MARK_PX, height=MARK_PX)}


def test_a_source_and_a_guest_go_on_without_those_that_they_came_by(
    air: OnAir, view: LiveView, clip: Clip, slate: str
) -> None:
    with live_layers(air, clip, slate, "erin") as live:
        scene = air.scene(**marked(), **live.layers)
        air.select(scene)
        view.until("the layers", lambda pixels: live.shows(pixels, 0), AWAY_S)
        with view.recording() as recording:
            air.operator.kill()
            scene.patch("mark", x=200)
            view.until("a change without an operator", lambda pixels: live.shows(pixels, 200))
            air.redis.stop()
            scene.patch("mark", x=300)
            view.until("a change without Redis", lambda pixels: live.shows(pixels, 300))
            air.facade.kill()
            edited(air, scene.id, scene.ids["mark"], 400)
            air.control_plane.stop_apiserver()
            assert any(
                abs(20 * np.log10(max(heard, 1e-4) / (clip.level / 2))) <= GAIN_DB
                for heard in (tone_at_end(view.watch(HEARD_S + 0.5), HEARD_S) for _ in range(ATTEMPTS))
            ), "the source is heard"
            assert all(live.shows(each.pixels, 300) for each in view.watch(STILL_S).frames)
            air.control_plane.start_apiserver()
            air.operator.start()
            view.until("what was changed meanwhile", lambda pixels: live.shows(pixels, 400), BACK_S)
            air.redis.start()
            air.facade.start()
            wait_for(air.facade_is_ready, "the facade is ready", BACK_S)
            scene.patch("mark", x=500)
            view.until("a change with all of them", lambda pixels: live.shows(pixels, 500))
            view.watch(STILL_S)
        assert marks(live, recording) == [0, 200, 300, 400, 500]
    scene.delete()


def test_a_source_that_flaps_without_an_operator_is_stood_for_and_comes_back(
    air: OnAir, view: LiveView, clip: Clip, slate: str
) -> None:
    with live_layers(air, clip, slate, "finn") as live:
        scene = air.scene(**marked(), **live.layers)
        air.select(scene)
        view.until("the layers", lambda pixels: live.shows(pixels, 0), AWAY_S)
        air.operator.kill()
        with view.recording() as recording:
            for _ in range(2):
                live.pushing.end()
                view.until("what stands for it", lambda pixels: is_all(pixels, SOURCE, PINK), AWAY_S)
                view.until("the source again", lambda pixels: live.shown_again(pixels, 0), AWAY_S)
        air.operator.start()
        for frame in recording.frames:
            found = frame.pixels
            inner = found[SOURCE[1] + 4 : SOURCE[1] + SIZE[1] - 4, SOURCE[0] + 4 : SOURCE[0] + SIZE[0] - 4]
            off = [np.abs(inner.astype(int) - np.array(each)).max(axis=2) for each in (PINK, clip.colour)]
            assert np.min(off, axis=0).max() <= NEAR, "the one or the other"
            assert is_all(found, GUEST, TEAL, NEAR)
            assert mark_of(found, off=NEAR) == 0
    scene.delete()


def test_a_restart_of_the_room_server_takes_the_guest_alone(
    air: OnAir, view: LiveView, clip: Clip, slate: str
) -> None:
    with live_layers(air, clip, slate, "gail") as live:
        scene = air.scene(**marked(), **live.layers)
        air.select(scene)
        view.until("the layers", lambda pixels: live.shows(pixels, 0), AWAY_S)
        with view.recording() as recording:
            air.rooms.stop()
            view.until("that the guest is away", lambda pixels: is_all(pixels, GUEST, BLUE), AWAY_S)
            air.rooms.start()
            view.until("the guest again", lambda pixels: live.shows(pixels, 0), BACK_S)
        for frame in recording.frames:
            assert is_all(frame.pixels, SOURCE, clip.colour, NEAR)
            assert is_all(frame.pixels, GUEST, TEAL, NEAR) or is_all(frame.pixels, GUEST, BLUE, NEAR)
            assert mark_of(frame.pixels, off=NEAR) == 0
    scene.delete()


def test_a_browser_that_dies_in_a_transition_comes_back_with_the_source_and_the_guest(
    air: OnAir, view: LiveView, clip: Clip, slate: str
) -> None:
    with live_layers(air, clip, slate, "hugo") as live:
        old = air.scene(**marked(BLUE), **live.layers)
        new = air.scene({"crossfade": {"durationMs": CROSSFADE_MS}}, **marked(GREEN), **live.layers)
        air.select(old)
        view.until("the layers", lambda pixels: live.shows(pixels, 0), AWAY_S)
        air.select(new)
        half = view.until("half of the way", lambda pixels: 60 < pixels[150, 300, 1] < 100)
        assert seen_of(live, half.pixels), "both are in both layouts"
        with view.recording() as recording:
            air.pod.kill("browser", "/chromium")
            view.until("the target", lambda pixels: live.shows(pixels, 0, GREEN), BACK_S)
    frames = [each.pixels for each in recording.frames]
    gone = next(at for at, each in enumerate(frames) if each[150, 300].max() < 60)
    back = next(at for at, each in enumerate(frames[gone:], gone) if each[150, 300, 1] > 100)
    assert all(seen_of(live, each) for each in frames[: gone - 1]), "until then"
    # The slate, and then the target, whole: neither what was before is seen again, nor a layer alone
    assert all(each[150, 300, 2] < 60 for each in frames[gone:]), "the old ground"
    assert all(seen_of(live, each) for each in frames[back:]), "all at once"
    for each in (old, new):
        each.delete()
