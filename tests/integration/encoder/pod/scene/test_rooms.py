"""Guests of the room and their screens as viewers see and hear them, also after a restart of its server."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from itertools import pairwise

import numpy as np
import pytest
from livekit import rtc
from tests.support.media.live_view import LiveView, Pixels
from tests.support.pages import site
from tests.support.rooms.member import PLAIN_SIZE, member
from tests.support.rooms.participant import participant
from tests.support.scene import media
from tests.support.scene.camera import tone_level
from tests.support.scene.on_air import OnAir, square
from tests.support.scene.picture import Colour
from tests.support.waiting import wait_for

from onair_crds.shapes import JsonObject

pytestmark = pytest.mark.media

BLUE, PINK, GREEN = (0, 0, 160), (208, 0, 208), (16, 160, 48)
COLOUR, EDGE_PX = 4, 1
CODED = 48
"""Of a screen that a browser shares: it changes its colours before it sends them, unlike a plain camera."""
SIZE = (240, 180)
"""Of the shape of the guest's camera."""
HIDES, REMAINS = (40, 60), (340, 60)
SCREEN, SCREEN_SIZE = (40, 264), (160, 90)
BESIDE = 20
"""Pixels beside a layer in which nothing else may be."""
JOINED_S = 40.0
GUEST = "anna"


def layer(on_disconnect: str, place: tuple[int, int], volume: float, guest: str = GUEST) -> JsonObject:
    data = {"webrtc": {"id": guest, "type": "webcam", "volume": volume}, "onDisconnect": on_disconnect}
    return {
        "type": "webrtc",
        "x": place[0],
        "y": place[1],
        "width": SIZE[0],
        "height": SIZE[1],
        "data": data,
    }


@pytest.fixture(scope="module")
def slate() -> Iterator[str]:
    """The address of a picture."""
    with site({"/slate.png": ("image/png", media.png(*SCREEN_SIZE, PINK))}) as address:
        yield f"{address}/slate.png"


def screen(slate: str, volume: float = 0, guest: str = GUEST) -> JsonObject:
    """A layer for what a guest shares."""
    webrtc = {"id": guest, "type": "screen", "volume": volume}
    data: JsonObject = {"webrtc": webrtc, "onDisconnect": "slate"}
    data["disconnectedSlate"] = {"url": slate}
    (x, y), (width, height) = SCREEN, SCREEN_SIZE
    return {"type": "webrtc", "x": x, "y": y, "width": width, "height": height, "data": data}


def is_all(
    pixels: Pixels, place: tuple[int, int], colour: Colour, size: tuple[int, int] = SIZE, inset: int = 0
) -> bool:
    """Whether a box shows a colour all over, but for its edge."""
    (x, y), (width, height) = place, size
    inner = pixels[y + inset : y + height - inset, x + inset : x + width - inset].astype(int)
    return bool(np.abs(inner - np.array(colour)).max() <= COLOUR)


def screen_is(pixels: Pixels, colour: Colour, tolerance: int) -> bool:
    """Whether what stands for the shared screen is of one colour, to its edges."""
    (x, y), (width, height) = SCREEN, SCREEN_SIZE
    inner = pixels[y + 4 : y + height - 4, x + 4 : x + width - 4].astype(int)
    other = np.abs(pixels[y - 4 :, x - 20 : x + width + 20].astype(int) - np.array(BLUE)).max(axis=2) > 40
    rows, columns = np.nonzero(other)
    if not len(rows):
        return False
    edges = (columns.min() - 20, rows.min() - 4, columns.max() - 19 - width, rows.max() - 3 - height)
    return bool(max(map(abs, edges)) <= EDGE_PX) and bool(np.abs(inner - np.array(colour)).max() <= tolerance)


def covers(pixels: Pixels, place: tuple[int, int], size: tuple[int, int] = SIZE) -> bool:
    """Whether a layer shows something all over its box, and nothing beside it."""
    (x, y), (width, height) = place, size
    other = np.abs(pixels.astype(int) - np.array(BLUE)).max(axis=2) > 40
    around = other[max(0, y - BESIDE) : y + height + BESIDE, max(0, x - BESIDE) : x + width + BESIDE]
    rows, columns = np.nonzero(around)
    if not len(rows):
        return False
    left, top = min(BESIDE, x), min(BESIDE, y)
    edges = (
        *(columns.min() - left, rows.min() - top),
        *(columns.max() + 1 - left - width, rows.max() + 1 - top - height),
    )
    return bool(max(map(abs, edges)) <= EDGE_PX)


def there(pixels: Pixels) -> bool:
    return covers(pixels, HIDES) and covers(pixels, REMAINS) and screen_is(pixels, GREEN, CODED)


def left(pixels: Pixels) -> bool:
    return is_all(pixels, HIDES, BLUE) and covers(pixels, REMAINS) and screen_is(pixels, PINK, COLOUR)


def nobody(pixels: Pixels) -> bool:
    ground = all(is_all(pixels, each, BLUE) for each in (HIDES, REMAINS))
    return ground and screen_is(pixels, PINK, COLOUR)


async def test_a_guest_is_seen_and_heard_and_again_after_a_restart_of_the_room_server(
    air: OnAir, view: LiveView, slate: str
) -> None:
    async def until(what: str, check: Callable[[Pixels], object]) -> None:
        await asyncio.to_thread(view.until, what, check, JOINED_S)

    guests = {"hides": layer("hide", HIDES, 1), "remains": layer("remain", REMAINS, 0)}
    scene = await asyncio.to_thread(air.scene, ground=square(BLUE), **guests, screen=screen(slate))
    await asyncio.to_thread(air.select, scene)
    await until("nobody", nobody)
    url = air.signal_url
    guest = await asyncio.to_thread(air.guest, GUEST)
    token = await asyncio.to_thread(air.room_token, guest, GUEST)
    shared = "rgb({}, {}, {})".format(*GREEN)
    async with participant(url, token, insist=True, screen=shared):
        await until("the guest, and their screen", there)
        for _ in range(HEARD_TRIES):  # a guest's browser that gets no core stands still
            recording = await asyncio.to_thread(view.watch, 2.5)
            first = recording.frames[0].at_s
            beeps = recording.sound(first, first + 2)
            faces = [
                each.pixels[HIDES[1] : HIDES[1] + SIZE[1], HIDES[0] : HIDES[0] + SIZE[0]]
                for each in recording.frames[::10]
            ]
            moved = [np.abs(one.astype(int) - other).max() for one, other in pairwise(faces)]
            if np.abs(beeps).max() > 0.05 and min(moved) > 40:
                break
        assert np.abs(beeps).max() > 0.05, "the fake microphone beeps once a second"
        assert min(moved) > 40, "the fake camera moves"
        await asyncio.to_thread(air.rooms.stop)
        await until("that they are away", left)
        still = await asyncio.to_thread(view.watch, 1.0)
        assert all(left(each.pixels) for each in still.frames[::3]), "and nobody puts a slate on air"
        await asyncio.to_thread(air.rooms.start)
        token = await asyncio.to_thread(air.room_token, guest, GUEST)
    async with participant(url, token, insist=True, screen=shared):
        await until("the guest again", there)
    await until("that they have left", left)
    await asyncio.to_thread(scene.delete)


OTHER = "ben"
CAMERA_COLOUR, SCREEN_COLOUR = (208, 112, 16), (64, 128, 192)
CAMERA_HZ, SCREEN_HZ, PEAK, GAIN_DB = 400, 1300, 0.25, 1
PLAIN = (240, 135)
"""Of the shape of the plain camera."""

LAST_COLOUR = (48, 144, 80)
NATURAL, NATURAL_SIZE = (300, 170), PLAIN_SIZE
"""Of a layer that has no size."""
KEPT = (340, 10)

BROWSER = (("browser", "/chromium"),)
AGENT_AND_BROWSER = (("encoder", "onair_encoder agent"), *BROWSER)
HEARD_TRIES = 4
"""Recordings until one has no gap in what is heard: a guest's audio comes by UDP, and machines are busy."""
VOLUMES = {CAMERA_HZ: 0.5, SCREEN_HZ: 0.25}
"""Of the layers, by what is heard of them."""


async def test_a_guest_has_the_colours_that_they_send_and_the_volumes_of_their_layers(
    air: OnAir, view: LiveView, slate: str
) -> None:
    webcam = layer("hide", HIDES, 0.5, OTHER) | {"height": PLAIN[1]}
    scene = await asyncio.to_thread(
        air.scene, ground=square(BLUE), webcam=webcam, screen=screen(slate, 0.25, OTHER)
    )
    await asyncio.to_thread(air.select, scene)
    guest = await asyncio.to_thread(air.guest, OTHER)
    token = await asyncio.to_thread(air.room_token, guest, OTHER)

    def shown(pixels: Pixels) -> bool:
        has_camera = is_all(pixels, HIDES, CAMERA_COLOUR, PLAIN, 4)
        return has_camera and is_all(pixels, SCREEN, SCREEN_COLOUR, SCREEN_SIZE, 4)

    async with member(air.signal_url, token, subscribe=False) as anna:
        await anna.publish_colour(CAMERA_COLOUR)
        await anna.publish_colour(SCREEN_COLOUR, of=rtc.TrackSource.SOURCE_SCREENSHARE)
        await anna.publish_microphone(CAMERA_HZ, PEAK)
        await anna.publish_microphone(SCREEN_HZ, PEAK, of=rtc.TrackSource.SOURCE_SCREENSHARE_AUDIO)
        await asyncio.to_thread(view.until, "their camera and screen", shown, JOINED_S)
        for _ in range(HEARD_TRIES):
            recording = await asyncio.to_thread(view.watch, 3.0)
            assert all(shown(each.pixels) for each in recording.frames[::10])
            end_s = recording.frames[-1].at_s
            sound = recording.sound(end_s - 1.5, end_s - 0.2)
            gains = {hz: tone_level(sound, hz) / PEAK for hz in VOLUMES}
            off_db = max(abs(20 * np.log10(gains[hz] / volume)) for hz, volume in VOLUMES.items())
            if off_db <= GAIN_DB:
                break
    assert off_db <= GAIN_DB, gains
    await asyncio.to_thread(scene.delete)


async def test_the_last_picture_of_a_guest_who_left_remains_in_its_size(air: OnAir, view: LiveView) -> None:
    remains = layer("remain", KEPT, 0, "eve") | {"height": PLAIN[1]}
    natural = layer("hide", NATURAL, 0, "eve")
    del natural["width"], natural["height"]
    scene = await asyncio.to_thread(air.scene, ground=square(BLUE), remains=remains, natural=natural)
    await asyncio.to_thread(air.select, scene)
    token = await asyncio.to_thread(air.room_token, await asyncio.to_thread(air.guest, "eve"), "eve")

    async def until(what: str, check: Callable[[Pixels], object]) -> None:
        await asyncio.to_thread(view.until, what, check, JOINED_S)

    def both(colour: Colour) -> Callable[[Pixels], bool]:
        return lambda pixels: (
            is_all(pixels, KEPT, colour, PLAIN, 4)
            and is_all(pixels, NATURAL, colour, NATURAL_SIZE, 4)
            and covers(pixels, KEPT, PLAIN)
            and covers(pixels, NATURAL, NATURAL_SIZE)
        )

    def kept(pixels: Pixels) -> bool:
        is_kept = is_all(pixels, KEPT, LAST_COLOUR, PLAIN, 4) and covers(pixels, KEPT, PLAIN)
        return is_kept and is_all(pixels, NATURAL, BLUE, NATURAL_SIZE)

    async with member(air.signal_url, token, subscribe=False) as guest:
        await guest.publish_colour(CAMERA_COLOUR)
        await until("the guest", both(CAMERA_COLOUR))
        guest.colours[rtc.TrackSource.SOURCE_CAMERA] = LAST_COLOUR
        await until("their last colour", both(LAST_COLOUR))
    await until("that they have left", kept)
    recording = await asyncio.to_thread(view.watch, 1.0)
    assert all(kept(each.pixels) for each in recording.frames)
    await asyncio.to_thread(scene.delete)


@pytest.mark.parametrize(
    ("name", "ended"), [("carol", BROWSER), ("dan", AGENT_AND_BROWSER)], ids=["browser", "agent and browser"]
)
async def test_guests_are_seen_by_another_browser_while_the_facade_is_away(
    air: OnAir, view: LiveView, name: str, ended: tuple[tuple[str, str], ...]
) -> None:
    webcam = layer("hide", HIDES, 1, name) | {"height": PLAIN[1]}
    scene = await asyncio.to_thread(air.scene, ground=square(BLUE), webcam=webcam)
    await asyncio.to_thread(air.select, scene)
    token = await asyncio.to_thread(air.room_token, await asyncio.to_thread(air.guest, name), name)

    def shown(pixels: Pixels) -> bool:
        return is_all(pixels, HIDES, CAMERA_COLOUR, PLAIN, 4)

    async def until(what: str, check: Callable[[Pixels], object]) -> None:
        await asyncio.to_thread(view.until, what, check, JOINED_S)

    # Past the facade: it is away for the encoder, and not for who joined by another replica of it
    async with member(air.rooms.http_url.replace("http", "ws", 1), token, subscribe=False) as guest:
        await guest.publish_colour(CAMERA_COLOUR)
        await guest.publish_microphone(CAMERA_HZ, PEAK)
        await until("the guest", shown)
        await asyncio.to_thread(air.facade.kill)
        for program in ended:
            await asyncio.to_thread(air.pod.kill, *program)
        if ended is AGENT_AND_BROWSER:
            await asyncio.to_thread(view.connect_again, JOINED_S)
        else:
            await until("that nobody draws", lambda pixels: not shown(pixels))
        await until("the guest, by another browser", shown)
        assert not await asyncio.to_thread(air.facade_is_ready)
        gains: list[float] = []
        while not gains or (len(gains) < HEARD_TRIES and gains[-1] <= 0.9):
            recording = await asyncio.to_thread(view.watch, 2.0)
            end_s = recording.frames[-1].at_s
            gains.append(tone_level(recording.sound(end_s - 1, end_s - 0.2), CAMERA_HZ) / PEAK)
        assert gains[-1] > 0.9, f"they are heard, too: {gains}"
        await asyncio.to_thread(air.facade.start)
        await asyncio.to_thread(wait_for, air.facade_is_ready, "the facade is ready", JOINED_S)
        recording = await asyncio.to_thread(view.watch, 4.0)
        assert all(shown(each.pixels) for each in recording.frames), "who was joined is not left for it"
    await until("that they have left", lambda pixels: not shown(pixels))
    await asyncio.to_thread(scene.delete)
