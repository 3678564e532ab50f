"""A room of a real LiveKit server: what a browser in it sees and hears, and what errors are reported."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import os
import signal
import statistics
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.support.delivery.browser_page import Viewer
from tests.support.delivery.live_program import HEIGHT, WIDTH, live_program
from tests.support.delivery.livekit_server import LiveKitServer, viewer
from tests.support.delivery.rooms import (
    HIGH_PROFILE,
    IDENTITY,
    process_of,
    publishing,
    room_destination,
    until_reported,
)

from onair_crds.contract.program import ProgramRtc
from onair_crds.media.flv import VIDEO, Packet
from onair_crds.media.h264 import access_unit, parameter_sets
from onair_crds.room_publisher.room_client import RoomClient
from onair_encoder.media.fan_out import FanOut
from onair_encoder.publish.delivery import Delivery

pytestmark = pytest.mark.media

ATTEMPTS, MOST = 5, 3
FLASH = f"color=black:size={WIDTH}x{HEIGHT}:rate=30,geq=lum='if(lt(mod(T,1),0.5),235,16)':cb=128:cr=128"
BEEP = "aevalsrc='0.5*sin(2*PI*1000*t)*lt(mod(t,1),0.5)':s=48000"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveKitServer]:
    with LiveKitServer(tmp_path_factory.mktemp("livekit")) as server:
        yield server


@pytest.fixture
def own_server(tmp_path: Path) -> Iterator[LiveKitServer]:
    with LiveKitServer(tmp_path) as server:
        yield server


class SentFrames:
    """What is in the frames of the programme."""

    def __init__(self, fan_out: FanOut) -> None:
        self.hashes: set[str] = set()
        self._sets = b""
        for packet in fan_out.subscribe(self):
            self.packet(packet)

    def packet(self, packet: Packet) -> None:
        if packet.type != VIDEO:
            return
        if packet.header:
            self._sets = parameter_sets(packet)
        else:
            self.hashes.add(hashlib.sha1(access_unit(packet, self._sets), usedforsecurity=False).hexdigest())


async def smooth(watching: Viewer) -> None:
    """In most times of two seconds nothing freezes or is dropped: a viewer without a core does both."""
    smooth = []
    for _ in range(ATTEMPTS):
        before = watching.report
        after = await watching.until("two seconds", lambda r: r["moved"] > before["moved"] + 60)  # noqa: B023
        frozen, dropped = (
            after["video"][key] - before["video"][key] for key in ("freezeCount", "framesDropped")
        )
        smooth.append(not frozen and dropped <= 3)
        if sum(smooth) == MOST:
            return
    raise AssertionError(f"smooth in two seconds each: {smooth}")


async def test_a_browser_in_the_room_gets_the_very_frames_and_the_tone(server: LiveKitServer) -> None:
    async with viewer(server, "watched") as watching, live_program(1500, HIGH_PROFILE) as fan_out:
        sent = SentFrames(fan_out)
        async with publishing(room_destination(server, "watched"), fan_out) as publisher:
            report = await watching.until("moving", lambda r: r["moved"] > 60 and len(r["frames"]) > 60)
            heard = await watching.until("heard", lambda r: abs(r["tone"]["hz"] - 1000) < 15)
            await until_reported(publisher, None)
            assert (report["width"], report["height"]) == (WIDTH, HEIGHT)
            assert heard["tone"]["db"] > -50
            assert (report["videoCodec"]["mimeType"], report["audioCodec"]["mimeType"]) == (
                "video/H264",
                "audio/opus",
            )
            assert "stereo=1" in report["audioCodec"]["sdpFmtpLine"]
            await smooth(watching)
            # Not one bit of a frame is another: it was not encoded again.
            assert set(report["frames"]) <= sent.hashes
            assert publisher.destination.counters.sent_bytes > 100_000
            token = publisher.destination.wanted.rtc.token.get_secret_value()  # type: ignore[union-attr]
            folder = Path(f"/proc/{process_of('watched')}")
            assert token.encode() not in (folder / "cmdline").read_bytes() + (folder / "environ").read_bytes()
            await publisher.finish()
            await watching.until("left", lambda r: any(e["name"] == "left" for e in r["events"]), 5)


async def test_viewers_get_another_size_and_bitrate(server: LiveKitServer) -> None:
    """As after a change of a project that is on air: another encode follows the first."""
    async with contextlib.AsyncExitStack() as stack:
        first = live_program(400, HIGH_PROFILE)
        fan_out = await first.__aenter__()
        publisher = await stack.enter_async_context(publishing(room_destination(server, "resized"), fan_out))
        watching = await stack.enter_async_context(viewer(server, "resized"))
        await watching.until("moving", lambda r: r["moved"] > 150 and r["width"] == WIDTH)
        state, counters = publisher.destination.state, publisher.destination.counters
        # A busy machine may have needed a second one to join
        joined = state.attempts, counters.sessions
        await first.__aexit__(None, None, None)
        larger = live_program(3000, HIGH_PROFILE, "testsrc2=size=640x360:rate=30", into=fan_out)
        await stack.enter_async_context(larger)
        await watching.until("larger", lambda r: (r["width"], r["height"]) == (640, 360))
        moved = watching.report["moved"]
        await watching.until("moving on", lambda r: r["moved"] > moved + 60)
        await until_reported(publisher, None)
        state = publisher.destination.state
        assert (state.attempts, counters.sessions) == joined, "it never left, nor missed frames for long"


async def test_audio_and_video_stay_in_sync(server: LiveKitServer) -> None:
    """The browser's audio output takes some 40 ms of it; its jitter buffers settle in seconds, or in more."""

    def offset_ms(report: dict[str, Any]) -> float:
        beeps, flashes = report["beeps"][-5:], report["flashes"]
        return float(statistics.median(min((beep - flash for flash in flashes), key=abs) for beep in beeps))

    async with (
        viewer(server, "flashing") as watching,
        live_program(400, picture=FLASH, sound=BEEP) as fan_out,
        publishing(room_destination(server, "flashing"), fan_out),
    ):
        await watching.until(
            "in step",
            lambda r: len(r["beeps"]) > 5 and len(r["flashes"]) > 5 and -60 < offset_ms(r) < 140,
            90,
        )


async def test_refusals_are_reported_in_words(server: LiveKitServer) -> None:
    wrong = server.token("a", IDENTITY, secret="a secret of somebody else's, long enough")
    old = server.token("b", IDENTITY, age_s=1200)
    no_right = server.token("c", IDENTITY, canPublish=False)
    server.call("CreateRoom", name="full", room="full", max_participants=1)
    async with live_program() as fan_out, contextlib.AsyncExitStack() as stack:
        guest = await RoomClient.start(
            ProgramRtc(
                provider="livekit", url=server.url, token=server.token("full", "x"), room="full", identity="x"
            )
        )
        stack.push_async_callback(guest.close)
        async with asyncio.timeout(15):
            await guest.message()
        cases = {
            "token was refused": room_destination(server, "a", token=wrong),
            "token has expired": room_destination(server, "b", token=old),
            "does not let this identity publish": room_destination(server, "c", token=no_right),
            "the room may be full": room_destination(server, "full"),
            "connection refused by 127.0.0.1:9": room_destination(server, "d", url="ws://127.0.0.1:9"),
            "no-such-host.invalid: name not found": room_destination(
                server, "e", url="ws://no-such-host.invalid"
            ),
        }
        for words, wanted in cases.items():
            async with publishing(wanted, fan_out) as publisher:
                await until_reported(publisher, words)
                assert publisher.destination.state.last_error
                assert "eyJ" not in publisher.destination.state.last_error


async def test_an_identity_that_is_taken_over_is_not_reclaimed_at_once(server: LiveKitServer) -> None:
    async with live_program() as fan_out, publishing(room_destination(server, "taken"), fan_out) as publisher:
        await until_reported(publisher, None)
        rtc = publisher.destination.wanted.rtc
        assert rtc
        other = await RoomClient.start(rtc)
        try:
            await until_reported(
                publisher, f"joined the room as {IDENTITY}; retried when the operator is in touch"
            )
        finally:
            await other.close()


async def test_it_reconnects_after_the_server_a_stall_and_a_crash_of_its_process(
    own_server: LiveKitServer,
) -> None:
    server = own_server
    async with live_program() as fan_out, publishing(room_destination(server, "back"), fan_out) as publisher:
        await until_reported(publisher, None)
        os.kill(process_of("back"), signal.SIGKILL)
        await until_reported(publisher, "the publishing process ended (signal 9)")
        await until_reported(publisher, None)

        frozen_at = time.monotonic()
        server.freeze(True)
        await until_reported(publisher, "stalled")
        assert time.monotonic() - frozen_at < 2.5
        server.freeze(False)
        await until_reported(publisher, None, 25)

        server.stop()
        await until_reported(publisher, "127.0.0.1")
        server.start()
        await until_reported(publisher, None, 25)


async def test_a_new_token_and_a_new_timeout_leave_the_session_alone(server: LiveKitServer) -> None:
    async with live_program() as fan_out:
        delivery = Delivery(fan_out, lambda: None)
        wanted = room_destination(server, "kept")
        delivery.want([wanted])
        publisher = delivery._publishers["kept"]
        await until_reported(publisher, None)
        attempts = publisher.destination.state.attempts
        token = server.token("kept", IDENTITY, canPublish=True, canSubscribe=False, hidden=False)
        delivery.want([room_destination(server, "kept", token=token, timeout_ms=4000, generation=2)])
        assert delivery._publishers["kept"] is publisher
        assert publisher.destination.wanted.timeout_ms == 4000
        assert publisher.destination.state.attempts == attempts
        started = time.monotonic()
        await delivery.finish()
        assert time.monotonic() - started < 2
