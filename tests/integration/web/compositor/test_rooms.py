"""Participants of the room on layers: a real room server, a guest with a fake camera in another browser."""

from __future__ import annotations

import asyncio
import json
import math
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from livekit import rtc
from tests.support.cut_proxy import cut_proxy
from tests.support.delivery.livekit_server import LiveKitServer
from tests.support.rooms.member import member
from tests.support.rooms.participant import participant
from tests.support.scene.compositor import Compositor, compositor
from tests.support.scene.fake_agent import layer, scene, square, state
from tests.support.scene.picture import BLUE, TOLERANCE, Picture
from tests.support.scene.sound import forget, hear_tone, listen


def published(report: dict[str, Any]) -> bool:
    return "published" in [event["name"] for event in report["events"]]


pytestmark = pytest.mark.media

PLAIN = (16, 160, 48)
"""What the camera of a guest sees, all over."""
CODEC = 32
"""What a codec makes of a colour is further from it than what a page does."""
PLAYED_S = "document.querySelector('[data-layer=a] video').currentTime"
"""How much of a guest was shown."""


@pytest.fixture
def server(tmp_path: Path) -> Iterator[LiveKitServer]:
    with LiveKitServer(tmp_path) as running:
        yield running


def guest(**given: Any) -> dict[str, Any]:
    data = {"webrtc": {"id": "guest", "type": "webcam", "volume": 1}, "onDisconnect": "hide"}
    return layer("a", "webrtc", **{"width": 160, "height": 120, "data": data, **given})


def room(server: LiveKitServer) -> dict[str, str]:
    rights: dict[str, Any] = {"hidden": True, "canPublish": False, "canSubscribe": True}
    return {"url": server.url, "token": server.token("show", "renderer-1", **rights)}


async def seen(page: Compositor, there: bool) -> None:
    """Waits until the layer shows something else than what is below it, or that again."""
    for _ in range(400):
        if (await page.picture()).has(80, 60, BLUE) != there:
            return
    raise AssertionError(f"the guest is {'not ' if there else ''}seen: {page.agent.said[-3:]}")


async def test_a_guest_is_seen_and_heard_until_they_leave(chromium: str, server: LiveKitServer) -> None:
    token = server.token("show", "guest", canPublish=True)
    first = state(scene(square("below", "blue"), guest()), room=room(server))
    async with compositor(chromium, first) as page:
        told = await page.agent.heard("a failure", lambda said: said["type"] == "failed" and said["layers"])
        assert told["layers"][0]["layerId"] == "a"
        async with participant(server.url, token) as joined:
            await joined.until("published", published)
            await seen(page, True)
            await page.agent.heard("none fails", lambda said: said["type"] == "failed" and not said["layers"])
            assert "renderer-1" not in joined.report["participants"], "the renderer is hidden"
            await forget(page.tab)
            # The fake microphone beeps once a second
            sound = await listen(page.tab, 2)
            assert max(each.level_db() for each in sound.windows(0.05)) > -40
            await asyncio.to_thread(server.call, "RemoveParticipant", room="show", identity="guest")
            await seen(page, False)


async def test_the_last_picture_of_a_guest_who_left_remains(chromium: str, server: LiveKitServer) -> None:
    token = server.token("show", "guest", canPublish=True)
    data = {"webrtc": {"id": "guest", "type": "webcam"}, "onDisconnect": "remain"}
    first = state(scene(square("below", "blue"), guest(data=data)), room=room(server))
    async with compositor(chromium, first) as page:
        async with member(server.url, token) as joined:
            await joined.publish_colour(PLAIN)
            await page.shows(PLAIN, TOLERANCE, 80, 60)
            page.agent.said.clear()
            await asyncio.to_thread(server.call, "RemoveParticipant", room="show", identity="guest")
            await page.agent.heard("they left", lambda said: said["type"] == "failed" and said["layers"])
            # Longer than pictures are held
            left_ms = await page.tab.evaluate("performance.now()")
            await page.tab.until(f"performance.now() > {left_ms} + 500")
        covered(await page.picture())


def covered(picture: Picture) -> None:
    """Asserts that the guest's colour is all over the box; a small frame would be a square in the middle."""
    for x in (3, 80, 156):
        for y in (20, 60, 100):
            assert picture.has(x, y, PLAIN), (x, y, picture.at(x, y))


async def test_the_last_picture_remains_where_a_server_takes_it_back(
    chromium: str, server: LiveKitServer
) -> None:
    """By black frames of eight pixels, before it says that somebody left. It stands for nobody else."""
    token = server.token("show", "guest", canPublish=True)
    data = {"webrtc": {"id": "guest", "type": "webcam"}, "onDisconnect": "remain"}
    below, other = square("below", "blue"), data | {"webrtc": {"id": "other", "type": "webcam"}}
    first = state(scene(below, guest(data=data)), room=room(server))
    async with compositor(chromium, first) as page, member(server.url, token) as joined:
        camera = await joined.publish_colour(PLAIN)
        await page.shows(PLAIN, TOLERANCE, 80, 60)
        joined.end()
        black = rtc.VideoFrame(8, 8, rtc.VideoBufferType.RGBA, bytes(8 * 8 * 4))
        for _ in range(200):
            camera.capture_frame(black)
            await asyncio.sleep(0.05)
            if await page.tab.evaluate("document.querySelector('[data-layer=a] video').videoWidth <= 16"):
                break
        else:
            raise AssertionError("no small frame came")
        covered(await page.picture())
        await page.agent.send(state(scene(below, guest(data=other)), room=first["room"]))
        await page.shows(BLUE, CODEC, 80, 60)


COUNT_GAPS = """
window.gaps = 0;
(function look() {
  const [video, kept] = ['video', 'canvas'].map(name => document.querySelector(`[data-layer=a] ${name}`));
  const isSeen = each => each.checkVisibility({visibilityProperty: true});
  if (!isSeen(kept) && !(isSeen(video) && video.readyState > 1)) window.gaps++;
  requestAnimationFrame(look);
})();
"""
"""Frames in which a guest's layer had nothing to show."""


@pytest.mark.parametrize("restarted", [False, True], ids=["guest", "room server"])
async def test_the_last_picture_remains_until_a_guest_who_is_back_has_another(
    chromium: str, server: LiveKitServer, *, restarted: bool
) -> None:
    token = server.token("show", "guest", canPublish=True)
    data = {"webrtc": {"id": "guest", "type": "webcam"}, "onDisconnect": "remain"}
    first = state(scene(square("below", "blue"), guest(data=data)), room=room(server))
    before, after = (16, 160, 48), (160, 32, 48)
    async with compositor(chromium, first) as page:
        async with member(server.url, token) as joined:
            await joined.publish_colour(before)
            await page.shows(before, CODEC, 80, 60)
            page.agent.said.clear()
            await page.tab.evaluate(COUNT_GAPS)
            if restarted:
                server.stop()
                await page.agent.heard("they are gone", lambda said: "the room was left" in str(said))
        if restarted:
            server.start()
        await page.agent.heard("they are gone", lambda said: said["type"] == "failed" and said["layers"])
        async with member(server.url, token) as joined:
            await joined.publish_colour(after)
            await page.shows(after, CODEC, 80, 60)
            assert await page.tab.evaluate("window.gaps") == 0
            # It gives way to what comes now
            await page.tab.until(
                "getComputedStyle(document.querySelector('[data-layer=a] canvas')).display === 'none'"
            )


async def test_a_room_server_that_was_restarted_is_joined_again(chromium: str, server: LiveKitServer) -> None:
    token = server.token("show", "guest", canPublish=True)
    first = state(scene(square("below", "blue"), guest()), room=room(server))
    async with compositor(chromium, first) as page:
        async with participant(server.url, token) as joined:
            await joined.until("published", published)
            await seen(page, True)
            server.stop()
            await seen(page, False)
        server.start()
        async with participant(server.url, token, insist=True):
            await seen(page, True)


async def test_guests_stay_while_signalling_does_not_come_back(chromium: str, server: LiveKitServer) -> None:
    """As where the facade hangs, or the agent restarts slowly: media flows beside them."""
    token = server.token("show", "guest", canPublish=True)
    layers = (square("below", "blue"), guest(), guest() | {"id": "b", "x": 160})
    layers[2]["data"] = {"webrtc": {"id": "late", "type": "webcam"}}
    async with cut_proxy(server.port) as signalling, member(server.url, token) as joined:
        access = {**room(server), "url": f"ws://127.0.0.1:{signalling.port}"}
        await joined.publish_camera(320, 240, 10)
        async with compositor(chromium, state(scene(*layers), room=access)) as page:
            await seen(page, True)
            page.agent.said.clear()
            signalling.to_server = False
            signalling.cut()
            at_s = await page.tab.evaluate(PLAYED_S)
            await page.tab.until(f"{PLAYED_S} > {at_s} + 6", 30)
            signalling.to_server = True
            signalling.cut()
            late = server.token("show", "late", canPublish=True)
            async with member(server.url, late) as second:
                await second.publish_camera(320, 240, 10)
                await page.agent.heard(
                    "that the other one is shown", lambda said: said == {"type": "failed", "layers": []}, 30
                )
            assert '"a"' not in json.dumps(page.agent.said), "the one who was there never left"


async def test_a_guest_who_is_only_heard_is_lost_with_their_room(
    chromium: str, server: LiveKitServer
) -> None:
    """Of them silence comes, without an end."""
    token = server.token("show", "guest", canPublish=True)
    async with member(server.url, token) as joined:
        await joined.publish_microphone(500, 0.3)
        async with compositor(chromium, state(scene(guest()), room=room(server))) as page:
            await hear_tone(page.tab, 500, 20 * math.log10(0.3), 3)
            server.stop()
            await page.agent.heard("that the room was left", lambda said: "the room was left" in str(said))


COUNT_SOCKETS = """
window.opened = 0;
window.WebSocket = class extends WebSocket {
  constructor(...given) { super(...given); window.opened++; }
};
"""


async def test_a_room_is_joined_once_however_many_layers_and_changes_come_meanwhile(
    chromium: str, server: LiveKitServer
) -> None:
    """Each connection that is too many throws out the one before, as all have one identity."""
    layers = [guest() | {"id": f"guest-{number}"} for number in range(4)]
    async with compositor(chromium, state(scene())) as page:
        await page.tab.evaluate(COUNT_SOCKETS)
        for number in range(5):
            moved = [each | {"x": number} for each in layers]
            await page.agent.send(state(scene(*moved), room=room(server)))
        await page.agent.heard(
            "that the room is joined",
            lambda said: (
                said["type"] == "failed"
                and len(said["layers"]) == len(layers)
                and all("is not in the room" in each["reason"] for each in said["layers"])
            ),
        )
        assert await page.tab.evaluate("window.opened") == 1


async def test_a_guest_stays_while_it_is_not_known_what_the_room_is_joined_with(
    chromium: str, server: LiveKitServer
) -> None:
    """As after a restart of the agent without the facade."""
    token = server.token("show", "guest", canPublish=True)
    layout = scene(square("below", "blue"), guest())
    async with (
        compositor(chromium, state(layout, room=room(server))) as page,
        member(server.url, token) as joined,
    ):
        await joined.publish_camera(320, 240, 10)
        await seen(page, True)
        await page.agent.send(state(layout, roomKnown=False))
        at_s = await page.tab.evaluate(PLAYED_S)
        await page.tab.until(f"{PLAYED_S} > {at_s} + 1")
        await seen(page, True)
        page.agent.said.clear()
        await page.agent.send(state(layout))
        await page.agent.heard("no room", lambda said: "the project has no room" in str(said))
        await seen(page, False)


async def test_a_guest_who_sends_audio_alone_holds_up_no_show(chromium: str, server: LiveKitServer) -> None:
    token = server.token("show", "guest", canPublish=True)
    async with member(server.url, token) as joined:
        await joined.publish_microphone()
        async with compositor(chromium, state(scene(guest()), room=room(server))) as page:
            await page.agent.heard("none fails", lambda said: said["type"] == "failed" and not said["layers"])


async def test_a_guest_who_is_shown_again_and_again_is_heard_through_one_node(
    chromium: str, server: LiveKitServer
) -> None:
    token = server.token("show", "guest", canPublish=True)
    layouts = [scene(guest()), scene(guest(), id="two")]
    async with member(server.url, token) as joined:
        await joined.publish_microphone(500, 0.3)
        async with compositor(chromium, state(*layouts, room=room(server))) as page:
            for selected in ("one", "two", "one", "two"):
                await page.agent.send(state(*layouts, selectedLayoutId=selected, room=room(server)))
                await page.tab.until(
                    f"document.querySelector('.scene.shown').dataset.layout === '{selected}'"
                )
                await hear_tone(page.tab, 500, 20 * math.log10(0.3), 3)
            assert await page.tab.alive("AudioWorkletNode") == 1
            away = scene(id="away")
            await page.agent.send(state(*layouts, away, selectedLayoutId="away", room=room(server)))
            await page.tab.until("document.querySelector('.scene.shown').dataset.layout === 'away'")
            began_ms = await page.tab.evaluate("performance.now()")
            await page.tab.until(f"performance.now() > {began_ms} + 3500")
            await page.agent.send(state(*layouts, away, selectedLayoutId="one", room=room(server)))
            await hear_tone(page.tab, 500, 20 * math.log10(0.3), 3)
            assert await page.tab.alive("AudioWorkletNode") == 1, "the former one is gone"


async def test_a_project_without_a_room_is_told(chromium: str) -> None:
    async with compositor(chromium, state(scene(guest()))) as page:
        told = await page.agent.heard("a failure", lambda said: said["type"] == "failed" and said["layers"])
        assert told["layers"][0]["reason"] == "the project has no room"


async def test_a_token_that_is_refused_is_told_and_in_no_text(chromium: str, server: LiveKitServer) -> None:
    refused = server.token("show", "renderer-1", secret="a secret of somebody else's, of some length")
    first = state(scene(guest()), room={"url": server.url, "token": refused})
    async with compositor(chromium, first) as page:
        told = await page.agent.heard(
            "that it is refused",
            lambda said: said["type"] == "failed" and "cannot be joined" in str(said["layers"]),
        )
        # The client takes a refused WebSocket for any of several errors
        assert re.fullmatch(r"the room cannot be joined: [A-Za-z]+", told["layers"][0]["reason"])
        assert refused not in str(page.agent.said) + str(page.tab.console)
