"""What viewers see of a scene while programs that it comes by are away, and once they are back.

With a square, a source and a guest: each is looked at on every frame.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.support.helm import kubectl
from tests.support.media.live_view import LiveRecording, LiveView, Pixels
from tests.support.pages import site
from tests.support.rooms.member import plain_camera
from tests.support.scene import camera, media
from tests.support.scene.camera import Camera, Clip, tone_at_end
from tests.support.scene.live_scene import LiveLayout
from tests.support.scene.on_air import OnAir, square
from tests.support.scene.picture import Colour
from tests.support.waiting import wait_for

from onair_crds.shapes import JsonObject

pytestmark = pytest.mark.media

BLUE, RED, PINK, SKY, GREEN = (0, 0, 160), (200, 0, 0), (208, 0, 208), (64, 128, 192), (0, 160, 0)
COLOUR, EDGE_PX, GAIN_DB = 4, 1, 1
SOFT_PX = 16
"""At both edges of the mark together, once encoded."""
NEAR = 60
"""A colour that has just changed takes some frames to be exact."""
AWAY_S = 40.0
BACK_S = 60.0
"""How soon what a test has ended is back, on a busy machine."""
STILL_S, HEARD_S, ATTEMPTS = 1.5, 0.7, 4
CLIP_S, VOLUME, FLAPS = 240, 0.5, 2
MARK_PX, SIZE = 100, (160, 90)
SOURCE, GUEST = (40, 200), (400, 200)
CROSSFADE_MS, DARK = 5000, 60


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

    def seen(self, pixels: Pixels, off: int = NEAR) -> bool:
        """Whether both are."""
        return is_all(pixels, SOURCE, self.clip.colour, off) and is_all(pixels, GUEST, SKY, off)

    def all_seen(self, pixels: Pixels, mark: int, ground: Colour = BLUE) -> bool:
        """Whether both are seen in their colours, and the mark at its place."""
        return self.seen(pixels, COLOUR) and mark_of(pixels, ground, COLOUR) == mark

    def seen_again(self, pixels: Pixels, mark: int) -> bool:
        """Likewise, while the place of the former publisher may not be free yet."""
        self.pushing.again()
        return self.all_seen(pixels, mark)


@contextmanager
def live_layers(air: OnAir, clip: Clip, slate: str, name: str) -> Iterator[Live]:
    """A source that is pushed, and a guest of the room, of this name."""
    id_, url = air.source()
    token = air.room_token(air.guest(name), name)
    source = {"source": {"id": id_, "volume": VOLUME}, "disconnectedSlate": {"url": slate}}
    guest = {"webrtc": {"id": name, "type": "webcam"}, "onDisconnect": "hide"}
    layers = {"source": placed("source", SOURCE, source), "guest": placed("webrtc", GUEST, guest)}
    # Past the facade: it is away for the encoder, and not for who joined by another replica of it
    with plain_camera(air.rooms.url, token, SKY), Camera(url, clip) as pushing:
        yield Live(layers, pushing, clip)


def placed(type_: str, place: tuple[int, int], data: JsonObject) -> JsonObject:
    return {"type": type_, "x": place[0], "y": place[1], "width": SIZE[0], "height": SIZE[1], "data": data}


def marked(ground: Colour = BLUE) -> dict[str, JsonObject]:
    return {"ground": square(ground), "mark": square(RED, width=MARK_PX, height=MARK_PX)}


def is_all(pixels: Pixels, place: tuple[int, int], colour: Colour, off: int = COLOUR) -> bool:
    """Whether a layer is of one colour all over, but for its edge."""
    (x, y), (width, height) = place, SIZE
    inner = pixels[y + 4 : y + height - 4, x + 4 : x + width - 4].astype(int)
    return bool(np.abs(inner - np.array(colour)).max() <= off)


def mark_of(pixels: Pixels, ground: Colour = BLUE, off: int = NEAR) -> int | None:
    """Where the mark is, whole, with the ground on both sides of it; to ten pixels."""
    row = pixels[MARK_PX // 2].astype(int)
    to_mark, to_ground = (np.abs(row - np.array(each)).max(axis=1) for each in (RED, ground))
    columns = np.nonzero(to_mark < to_ground)[0]
    is_whole = abs(len(columns) - MARK_PX) <= EDGE_PX and columns[-1] - columns[0] == len(columns) - 1
    if not is_whole or (np.minimum(to_mark, to_ground) > off).sum() > SOFT_PX:
        return None
    return round(int(columns[0]), -1)


def has_mark(pixels: Pixels, x: int) -> bool:
    return mark_of(pixels) == x


def marks(recording: LiveRecording, live: Live | None = None) -> list[int | None]:
    """Where the mark was, one after the other, None for anything else; who is live is on every frame."""
    frames = [each.pixels for each in recording.frames]
    without = [at for at, each in enumerate(frames) if live and not live.seen(each)]
    assert not without, f"{without} of {len(frames)}"
    return [place for place, _ in itertools.groupby(map(mark_of, frames))]


def edited(air: OnAir, scene: LiveLayout, x: int) -> None:
    """Moves the mark as `kubectl edit` does."""
    layers = air.resources.get("layouts", scene.id)["spec"]["layers"]
    moved = [{**each, "x": x} if each["id"] == scene.ids["mark"] else each for each in layers]
    air.resources.patch("layouts", scene.id, {"spec": {"layers": moved}})


def test_kubectl_changes_the_picture_as_http_does(air: OnAir, view: LiveView) -> None:
    scene = air.scene(**marked())
    air.select(scene)
    view.until("the scene", lambda pixels: mark_of(pixels) == 0)
    layers = air.resources.get("layouts", scene.id)["spec"]["layers"]
    at = next(number for number, each in enumerate(layers) if each["id"] == scene.ids["mark"])
    with view.recording() as recording:
        for x, by_kubectl in ((200, True), (300, False), (400, True)):
            if by_kubectl:
                change = [{"op": "replace", "path": f"/spec/layers/{at}/x", "value": x}]
                given = ("--type", "json", "-p", json.dumps(change))
                said = kubectl(
                    air.control_plane, "-n", air.resources.shows, "patch", "layout", scene.id, *given
                )
                assert said.endswith("patched"), said
            else:
                scene.patch("mark", x=x)
            view.until(f"the mark at {x}", partial(has_mark, x=x))
    assert marks(recording) == [0, 200, 300, 400], "each time in one step"
    scene.delete()


def test_without_those_that_it_comes_by_a_scene_goes_on_and_catches_up_in_one_step(
    air: OnAir, view: LiveView, clip: Clip, slate: str
) -> None:
    with live_layers(air, clip, slate, "erin") as live:
        scene = air.scene(**marked(), **live.layers)
        air.select(scene)
        view.until("the scene", lambda pixels: live.all_seen(pixels, 0), AWAY_S)
        with view.recording() as away:
            air.operator.kill()
            scene.patch("mark", x=200)
            view.until("a change without an operator", lambda pixels: live.all_seen(pixels, 200))
            air.redis.stop()
            scene.patch("mark", x=300)
            view.until("a change without Redis", lambda pixels: live.all_seen(pixels, 300))
            air.facade.kill()
            edited(air, scene, 400)
            air.control_plane.stop_apiserver()
            heard = (tone_at_end(view.watch(HEARD_S + 0.5), HEARD_S) for _ in range(ATTEMPTS))
            assert any(abs(20 * np.log10(max(each, 1e-4) / clip.level / VOLUME)) <= GAIN_DB for each in heard)
            assert all(live.all_seen(each.pixels, 300) for each in view.watch(STILL_S).frames)
        air.pod.kill("browser", "/chromium")
        view.until("that nobody draws", lambda pixels: not live.seen(pixels), BACK_S)
        view.until("the same picture, by another browser", lambda pixels: live.all_seen(pixels, 300), BACK_S)
        with view.recording() as back:
            view.watch(STILL_S)
            air.control_plane.start_apiserver()
            air.operator.start()
            view.until("what was changed meanwhile", lambda pixels: live.all_seen(pixels, 400), BACK_S)
            edited(air, scene, 100)
            view.until("kubectl's change, without a facade", lambda pixels: live.all_seen(pixels, 100))
            air.redis.start()
            air.facade.start()
            wait_for(air.facade_is_ready, "the facade is ready", BACK_S)
            scene.patch("mark", x=500)
            view.until("a change with all of them", lambda pixels: live.all_seen(pixels, 500))
            view.watch(STILL_S)
        # Last, as all that was ended has to be there for the tests that follow
        assert marks(away, live) == [0, 200, 300]
        assert marks(back, live) == [300, 400, 100, 500], "in one step"
    scene.delete()


def test_a_source_that_flaps_without_an_operator_is_stood_for_and_comes_back(
    air: OnAir, view: LiveView, clip: Clip, slate: str
) -> None:
    with live_layers(air, clip, slate, "finn") as live:
        scene = air.scene(**marked(), **live.layers)
        air.select(scene)
        view.until("the scene", lambda pixels: live.all_seen(pixels, 0), AWAY_S)
        air.operator.kill()
        with view.recording() as recording:
            for _ in range(FLAPS):
                live.pushing.end()
                view.until("what stands for it", lambda pixels: is_all(pixels, SOURCE, PINK), AWAY_S)
                view.until("the source again", lambda pixels: live.seen_again(pixels, 0), AWAY_S)
        air.operator.start()
    left, top, right, bottom = SOURCE[0] + 4, SOURCE[1] + 4, SOURCE[0] + SIZE[0] - 4, SOURCE[1] + SIZE[1] - 4
    for pixels in (each.pixels for each in recording.frames):
        inner = pixels[top:bottom, left:right].astype(int)
        off = np.min([np.abs(inner - np.array(each)).max(axis=2) for each in (PINK, clip.colour)], axis=0)
        assert off.max() <= NEAR, "it is the one or the other"
        assert is_all(pixels, GUEST, SKY, NEAR)
    assert marks(recording) == [0]
    scene.delete()


def test_a_restart_of_the_room_server_takes_away_the_guest_alone(
    air: OnAir, view: LiveView, clip: Clip, slate: str
) -> None:
    with live_layers(air, clip, slate, "gail") as live:
        scene = air.scene(**marked(), **live.layers)
        air.select(scene)
        view.until("the scene", lambda pixels: live.all_seen(pixels, 0), AWAY_S)
        with view.recording() as recording:
            air.rooms.stop()
            view.until("that the guest is away", lambda pixels: is_all(pixels, GUEST, BLUE), AWAY_S)
            air.rooms.start()
            view.until("the guest again", lambda pixels: live.all_seen(pixels, 0), BACK_S)
    for pixels in (each.pixels for each in recording.frames):
        assert is_all(pixels, SOURCE, clip.colour, NEAR)
        assert is_all(pixels, GUEST, SKY, NEAR) or is_all(pixels, GUEST, BLUE, NEAR)
    assert marks(recording) == [0]
    scene.delete()


def test_a_browser_that_dies_in_a_transition_comes_back_with_its_target(
    air: OnAir, view: LiveView, clip: Clip, slate: str
) -> None:
    def ground(pixels: Pixels) -> NDArray[np.int_]:
        """Its colour, where the slate is dark."""
        colour: NDArray[np.int_] = pixels[MARK_PX + 10, 300].astype(int)
        return colour

    with live_layers(air, clip, slate, "hugo") as live:
        old = air.scene(**marked(BLUE), **live.layers)
        new = air.scene({"crossfade": {"durationMs": CROSSFADE_MS}}, **marked(GREEN), **live.layers)
        air.select(old)
        view.until("the old layout", lambda pixels: live.all_seen(pixels, 0), AWAY_S)
        air.select(new)
        half = view.until("half of the way", lambda pixels: 60 < ground(pixels)[1] < 100)
        assert live.seen(half.pixels), "who is in both layouts goes on"
        with view.recording() as recording:
            air.pod.kill("browser", "/chromium")
            view.until("the new layout", lambda pixels: live.all_seen(pixels, 0, GREEN), BACK_S)
    frames = [each.pixels for each in recording.frames]
    gone = next(at for at, each in enumerate(frames) if ground(each).max() < DARK)
    back = next(at for at, each in enumerate(frames[gone:], gone) if ground(each).max() >= DARK)
    # Black or the slate, then all of the target: neither what was before, nor a window without a page
    assert all(ground(each)[2] < DARK for each in frames[gone:])
    assert all(live.seen(each) for each in frames[back:])
    for each in (old, new):
        each.delete()
