"""Pushed sources as viewers see and hear them, and what stands for them while they are away."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import NamedTuple

import numpy as np
import pytest
from tests.support.media.live_view import LiveView, Pixels
from tests.support.pages import site
from tests.support.scene import camera, media
from tests.support.scene.camera import Camera, Clip, tone_at_end
from tests.support.scene.on_air import OnAir, square
from tests.support.scene.picture import Colour
from tests.support.waiting import wait_for

from onair_crds.shapes import JsonObject

pytestmark = pytest.mark.media

BLUE, PINK = (0, 0, 160), (208, 0, 208)
COLOUR, EDGE_PX, GAIN_DB = 4, 1, 1
"""A source has come by two encoders: it is compared with what it is when it is decoded once."""
SIZE = (160, 90)
AWAY_S, HEARD_S = 15.0, 0.7
PLACES = {"slate": (20, 40), "hide": (220, 40), "remain": (420, 40)}
NATURAL = (200, 60)
"""Of a layer that has no size."""
NEAR = 60
"""A colour that has just changed takes some frames to be exact."""
FLAPS = 2


class Clips(NamedTuple):
    blue: Clip
    orange: Clip


@pytest.fixture(scope="module")
def clips(tmp_path_factory: pytest.TempPathFactory) -> Clips:
    folder = tmp_path_factory.mktemp("clips")
    shades = {"blue": (16, 32, 224), "orange": (208, 112, 16)}
    return Clips(**{name: camera.clip(folder / f"{name}.flv", shade) for name, shade in shades.items()})


@pytest.fixture(scope="module")
def slate() -> Iterator[str]:
    """The address of a picture."""
    with site({"/slate.png": ("image/png", media.png(*SIZE, PINK))}) as address:
        yield f"{address}/slate.png"


def layer(source_id: str, on_disconnect: str, slate: str, volume: float) -> JsonObject:
    (x, y), (width, height) = PLACES[on_disconnect], SIZE
    data = {
        "source": {"id": source_id, "volume": volume},
        "onDisconnect": on_disconnect,
        "disconnectedSlate": {"url": slate},
    }
    return {"type": "source", "x": x, "y": y, "width": width, "height": height, "data": data}


def inner(pixels: Pixels, name: str) -> Pixels:
    x, y = PLACES[name]
    return pixels[y + 3 : y + SIZE[1] - 3, x + 3 : x + SIZE[0] - 3]


def off(pixels: Pixels, wanted: Colour | Clip) -> int:
    """How far what is worst is from a colour, or from that of a source."""
    if isinstance(wanted, Clip):
        return wanted.off(pixels)
    return int(np.abs(pixels.astype(int) - np.array(wanted)).max())


def shows(pixels: Pixels, slate: Colour | Clip, hide: Colour | Clip, remain: Colour | Clip) -> bool:
    wanted = {"slate": slate, "hide": hide, "remain": remain}
    return max(off(inner(pixels, name), each) for name, each in wanted.items()) <= COLOUR


def edges(pixels: Pixels, x: int, width: int) -> tuple[int, int, int, int]:
    """Left, top, right and bottom of what is not the ground about a layer."""
    other = np.abs(pixels.astype(int) - np.array(BLUE)).max(axis=2) > 60
    rows, columns = np.nonzero(other[:, x - 10 : x + width + 10])
    left = x - 10
    return int(columns.min()) + left, int(rows.min()), int(columns.max()) + left + 1, int(rows.max()) + 1


def shown_again(camera: Camera, clip: Clip, pixels: Pixels) -> bool:
    camera.again()
    return shows(pixels, clip, clip, clip)


def others(pixels: Pixels, name: str, *colours: Colour) -> list[list[int]]:
    """Which colours a layer shows beside these."""
    seen = inner(pixels, name).astype(int).reshape(-1, 3)
    far = [np.abs(seen - np.array(each)).max(axis=1) for each in colours]
    found: list[list[int]] = np.unique(seen[np.min(far, axis=0) > NEAR], axis=0).tolist()
    return found


def publish_for_a_moment(air: OnAir, url: str, clip: Clip) -> None:
    """Comes, and goes as soon as it is there."""
    with Camera(url, clip) as camera:

        def publishes() -> bool:
            camera.again()
            paths = air.ingest.server_api("GET", "/v3/paths/list").json()["items"]
            return any(each["ready"] for each in paths)

        wait_for(publishes, "it publishes", AWAY_S)


def test_a_source_is_seen_and_heard_and_while_it_is_away_or_flaps_what_is_told_stands_for_it(
    air: OnAir, view: LiveView, slate: str, clips: Clips
) -> None:
    id_, url = air.source()
    volumes = {"slate": 0.5, "hide": 0, "remain": 0}
    layers = {name: layer(id_, name, slate, volume) for name, volume in volumes.items()}
    scene = air.scene(ground=square(BLUE), **layers)
    air.select(scene)
    view.until("what stands for it", lambda p: shows(p, PINK, BLUE, BLUE), AWAY_S)
    with Camera(url, clips.orange):
        frame = view.until("the source", lambda p: shows(p, *[clips.orange] * 3), AWAY_S)
        gain = tone_at_end(view.watch(HEARD_S + 0.3), HEARD_S) / clips.orange.level
    for x, y in PLACES.values():
        wanted = (x, y, x + SIZE[0], y + SIZE[1])
        found = edges(frame.pixels, x, SIZE[0])
        assert max(abs(one - other) for one, other in zip(found, wanted, strict=True)) <= EDGE_PX, found
    assert abs(20 * np.log10(gain / 0.5)) <= GAIN_DB, gain
    with view.recording() as recording:
        for number in range(FLAPS):
            publish_for_a_moment(air, url, (clips.blue, clips.orange)[number % 2])
        with Camera(url, clips.blue) as camera:
            view.until("the source again", partial(shown_again, camera, clips.blue), AWAY_S)
            gain = tone_at_end(view.watch(HEARD_S + 0.3), HEARD_S) / clips.blue.level
        view.until("that it is away", lambda p: shows(p, PINK, BLUE, clips.blue), AWAY_S)
    assert abs(20 * np.log10(gain / 0.5)) <= GAIN_DB, "it is heard once"
    assert tone_at_end(view.watch(0.5), 0.2) < clips.blue.level / 100
    source_itself = (clips.blue.colour, clips.orange.colour)
    for frame in recording.frames:
        pixels = frame.decoded.to_ndarray(format="rgb24").astype(np.uint8, copy=False)
        assert not others(pixels, "slate", PINK, *source_itself)
        assert not others(pixels, "hide", BLUE, *source_itself)
        assert not others(pixels, "remain", *source_itself)
    scene.delete()


def test_a_layer_without_a_size_has_that_of_its_source(air: OnAir, view: LiveView, clips: Clips) -> None:
    id_, url = air.source()
    (x, y), (width, height) = NATURAL, camera.SIZE
    natural: JsonObject = {"type": "source", "x": x, "y": y, "data": {"source": {"id": id_, "volume": 0}}}

    def shown(pixels: Pixels) -> bool:
        return clips.orange.off(pixels[y + 3 : y + height - 3, x + 3 : x + width - 3]) <= COLOUR

    with air.showing(view, ground=square(BLUE), natural=natural), Camera(url, clips.orange):
        frame = view.until("the source", shown, AWAY_S)
    found = edges(frame.pixels, x, width)
    wanted = (x, y, x + width, y + height)
    assert max(abs(one - other) for one, other in zip(found, wanted, strict=True)) <= EDGE_PX, found


def test_a_source_that_is_disabled_on_air_is_stood_for_until_it_is_enabled_again(
    air: OnAir, view: LiveView, slate: str, clips: Clips
) -> None:
    id_, url = air.source()
    run = air.status()["broadcast"]["id"]

    def enable(*, enabled: bool) -> None:
        path = f"/collection/{air.show.collection}/source/{id_}"
        air.client.call("PATCH", path, {"address": {"rtmpPush": {"enabled": enabled}}})

    layers = {name: layer(id_, name, slate, 0) for name in PLACES}
    with air.showing(view, ground=square(BLUE), **layers), Camera(url, clips.orange) as camera:
        view.until("the source", partial(shown_again, camera, clips.orange), AWAY_S)
        with view.recording() as recording:
            enable(enabled=False)
            view.until("what stands for it", lambda p: shows(p, PINK, BLUE, clips.orange), AWAY_S)
            camera.again()
            assert all(shows(each.pixels, PINK, BLUE, clips.orange) for each in view.watch(2).frames)
            enable(enabled=True)
            view.until("the source again", partial(shown_again, camera, clips.orange), AWAY_S)
    for frame in recording.frames:
        pixels = frame.decoded.to_ndarray(format="rgb24").astype(np.uint8, copy=False)
        assert not others(pixels, "slate", PINK, clips.orange.colour)
        assert not others(pixels, "hide", BLUE, clips.orange.colour)
        assert not others(pixels, "remain", clips.orange.colour)
    broadcast = air.status()["broadcast"]
    assert (broadcast["id"], broadcast["phase"]) == (run, "Running")
