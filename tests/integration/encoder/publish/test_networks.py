"""Networks that misbehave: each costs its own destination what it must, and the others not a packet."""

from __future__ import annotations

import contextlib
from itertools import pairwise
from pathlib import Path

import pytest
from tests.support.control_plane import free_port
from tests.support.delivery.far_end import FarEnd
from tests.support.delivery.live_program import live_program
from tests.support.delivery.livekit_server import LiveKitServer, viewer
from tests.support.delivery.rooms import HIGH_PROFILE, room_destination
from tests.support.delivery.toxiproxy import Toxiproxy
from tests.support.delivery.udp_proxy import UdpProxy
from tests.support.delivery.watched import SentPackets, WatchedDelivery, assert_every_packet_once
from tests.support.waiting import until

from onair_crds.contract.program import ProgramDestination
from onair_crds.resources.destination import DEFAULT_TIMEOUT_MS
from onair_encoder.media.fan_out import FanOut
from onair_encoder.publish.rtmp import connection as rtmp_connection

pytestmark = pytest.mark.media

TIMEOUT_MS = 1000
BACK_S = 1.0
"""Twice the time in which media are back after an interruption."""
RARE_KEY_FRAMES = ("-g", "150", "-keyint_min", "150")
HIDING_MS = 4000
"""A latency in which an interruption passes, also where this process stands still for seconds."""
PROXY_HOST = "127.0.0.2"
"""Where the room's server is said to take media: a proxy stands there."""


def rtmp(id_: str, port: int, path: str | None = None, host: str = "127.0.0.1") -> ProgramDestination:
    url = f"rtmp://{host}:{port}/{path or f'open/{id_}'}"
    return ProgramDestination(id=id_, type="RTMP", url=url, timeout_ms=TIMEOUT_MS)


def srt(id_: str, port: int, path: str | None = None, latency_ms: int = 600) -> ProgramDestination:
    url = f"srt://127.0.0.1:{port}?streamid=publish:{path or f'open/{id_}'}&latency={latency_ms}"
    return ProgramDestination(id=id_, type="SRT", url=url, timeout_ms=TIMEOUT_MS)


async def test_tcp_that_misbehaves(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rtmp_connection, "MAX_BEHIND_MS", 1500)
    names = ("late", "slow", "silent", "deaf", "frozen", "reset", "cut")
    async with FarEnd(tmp_path) as far_end, Toxiproxy() as net, live_program(1200) as fan_out:
        links = {name: await net.link(name, far_end.rtmp) for name in names}
        sent, watched = SentPackets(fan_out), WatchedDelivery(fan_out)
        nobody = free_port()
        watched.want(
            rtmp("healthy", far_end.rtmp, "recorded/healthy"),
            *(rtmp(name, links[name]) for name in names),
            rtmp("nowhere", 1935, host="nowhere.invalid"),
            rtmp("refused", nobody),
        )
        await watched.connected("healthy", *names)
        await watched.reports("nowhere", "nowhere.invalid: name not found")
        await watched.reports("refused", f"connection refused by 127.0.0.1:{nobody}")
        # That a server acknowledges as it goes is known after three times, each after a quarter of a second
        await far_end.received_more("open/silent", 300_000)
        await net.poison("late", "latency", latency=300, jitter=100)
        await net.poison("slow", "bandwidth", rate=40)
        await net.poison("silent", "timeout", timeout=0)
        await net.poison("deaf", "timeout", stream="downstream", timeout=0)
        await net.poison("frozen", "bandwidth", rate=0)
        for name in ("silent", "frozen"):
            await watched.reports(name, f"stalled: 127.0.0.1:{links[name]} took no bytes for 1")
        await _until_dropped(watched, "slow")
        # Last, and not for long: what fails at once is tried again ever later
        await net.poison("reset", "reset_peer", timeout=0)
        await net.cut("cut")
        for name in ("reset", "cut"):
            await watched.reports(name, f"127.0.0.1:{links[name]}")
        for name, kind in (("silent", "timeout"), ("frozen", "bandwidth"), ("reset", "reset_peer")):
            await net.heal(name, kind)
        await net.restore("cut")
        await watched.connected("late", "silent", "frozen", "reset", "cut", timeout_s=15)
        assert not watched.errors("late")
        assert not watched.errors("healthy")
        await far_end.received_more("recorded/healthy", 200_000)
        await watched.delivery.finish()
        await far_end.gone("recorded/healthy")
        assert_every_packet_once(far_end.recorded("recorded/healthy"), sent, least_s=3)


async def test_udp_that_misbehaves(tmp_path: Path) -> None:
    names = ("late", "lossy", "slow", "silent", "deaf")
    async with contextlib.AsyncExitStack() as stack:
        far_end = await stack.enter_async_context(FarEnd(tmp_path))
        fan_out = await stack.enter_async_context(live_program(1200))
        net = {name: await stack.enter_async_context(UdpProxy(far_end.srt)) for name in names}
        net["late"].delay_s = 0.15
        net["lossy"].delay_s, net["lossy"].loss = 0.02, 0.03
        sent, watched = SentPackets(fan_out), WatchedDelivery(fan_out)
        watched.want(
            srt("healthy", far_end.srt, "recorded/healthy"),
            # In time also where this process, which is the network, stands still for seconds
            srt("lossy", net["lossy"].port, "recorded/lossy", latency_ms=4000),
            *(srt(name, net[name].port) for name in names if name != "lossy"),
        )
        await watched.connected("healthy", *names)
        net["slow"].bytes_per_s = 40_000
        net["silent"].up = net["silent"].down = False
        net["deaf"].down = False
        for name in ("silent", "deaf"):
            await watched.reports(name, f"stalled: 127.0.0.1:{net[name].port} took no bytes for 1")
        await _until_dropped(watched, "slow")
        net["silent"].up = net["silent"].down = net["deaf"].down = True
        net["slow"].bytes_per_s = None
        await watched.connected("silent", "deaf", "slow", timeout_s=15)
        assert not watched.errors("late")
        assert not watched.errors("lossy")
        assert not watched.errors("healthy")
        for name in ("healthy", "lossy"):
            await far_end.received_more(f"recorded/{name}", 500_000)
        await watched.delivery.finish()
        for name in ("healthy", "lossy"):
            await far_end.gone(f"recorded/{name}")
            assert_every_packet_once(far_end.recorded(f"recorded/{name}"), sent, least_s=3, name=name)


async def test_srt_continues_after_the_network_was_interrupted(tmp_path: Path) -> None:
    """What was under way is asked for as soon as something comes after it. A long latency hides all of it."""
    outages_s = {"brief": 0.9, "long": 1.5}
    names = (*outages_s, "hidden")
    async with contextlib.AsyncExitStack() as stack:
        far_end = await stack.enter_async_context(FarEnd(tmp_path))
        # So long after a key frame that audio is what comes next
        fan_out = await stack.enter_async_context(live_program(1200, RARE_KEY_FRAMES))
        net = {name: await stack.enter_async_context(UdpProxy(far_end.srt)) for name in names}
        sent, watched = SentPackets(fan_out), WatchedDelivery(fan_out)
        destinations = [
            srt(name, net[name].port, f"recorded/{name}", HIDING_MS if name == "hidden" else 600)
            for name in names
        ]
        watched.want(*(each.model_copy(update={"timeout_ms": DEFAULT_TIMEOUT_MS}) for each in destinations))
        await watched.connected(*names)
        began_s = sent.seconds
        for name, outage_s in outages_s.items():
            links = [net[name], net["hidden"]] if name == "long" else [net[name]]
            await _key_frame(fan_out)
            _pass(links, passes=False)
            await _lasts(sent, outage_s)
            _pass(links, passes=True)
            await far_end.received_more(f"recorded/{name}", 5_000, BACK_S)
        least_s = sent.seconds - began_s
        await _lasts(sent, HIDING_MS / 1000 + 1)
        for name in names:
            assert (watched.errors(name), watched.state(name).attempts) == ("", 1)
        assert watched.delivery.counters("long").dropped > 0
        assert watched.delivery.counters("hidden").dropped == 0
        await watched.delivery.finish()
        await far_end.gone("recorded/hidden")
        recorded = far_end.recorded("recorded/hidden")
        assert_every_packet_once(recorded, sent, least_s=least_s, name="hidden")
        for name, outage_s in outages_s.items():
            audio = far_end.recorded(f"recorded/{name}").audio
            assert max(b - a for a, b in pairwise(audio)) < outage_s + BACK_S


async def test_srt_gets_its_last_packets_through_where_no_media_follow(tmp_path: Path) -> None:
    """An interruption of the network while the programme pauses."""
    fan_out = FanOut()
    async with FarEnd(tmp_path) as far_end, UdpProxy(far_end.srt) as net:
        async with live_program(1200, into=fan_out):
            sent, watched = SentPackets(fan_out), WatchedDelivery(fan_out)
            watched.want(srt("paused", net.port, "recorded/paused", HIDING_MS))
            await watched.connected("paused")
            await far_end.received_more("recorded/paused", 500_000)
            _pass([net], passes=False)
            await _lasts(sent, 0.3)
        counters = watched.delivery.counters("paused")
        before = counters.sent_bytes
        _pass([net], passes=True)
        await until(lambda: counters.sent_bytes > before + 20_000, "the peer has what was lost")
        assert (watched.errors("paused"), watched.state("paused").attempts) == ("", 1)
        await watched.delivery.finish()


def _pass(links: list[UdpProxy], *, passes: bool) -> None:
    for link in links:
        link.up = link.down = passes


async def _key_frame(fan_out: FanOut) -> None:
    """Waits for the next one."""
    last = fan_out.last_keyframe_at
    await until(lambda: fan_out.last_keyframe_at != last, "the next key frame")


async def _lasts(sent: SentPackets, seconds: float) -> None:
    """Waits for so much of the programme."""
    end_s = sent.seconds + seconds
    await until(lambda: sent.seconds >= end_s, f"{seconds} s of the programme")


async def test_a_room_on_a_bad_network(tmp_path: Path) -> None:
    """Loss is recovered from. On a slow network the audio continues, and the video comes back after it."""
    (tmp_path / "livekit").mkdir()
    async with contextlib.AsyncExitStack() as stack:
        room_server = stack.enter_context(LiveKitServer(tmp_path / "livekit", PROXY_HOST))
        link = UdpProxy(room_server.udp_port, PROXY_HOST, room_server.udp_port)
        await stack.enter_async_context(link)
        far_end = await stack.enter_async_context(FarEnd(tmp_path))
        fan_out = await stack.enter_async_context(live_program(1500, HIGH_PROFILE))
        sent, watched = SentPackets(fan_out), WatchedDelivery(fan_out)
        watched.want(
            room_destination(room_server, "room", timeout_ms=TIMEOUT_MS),
            rtmp("healthy", far_end.rtmp, "recorded/healthy"),
        )
        await watched.connected("room", "healthy")
        link.bad = link.clients
        viewing = await stack.enter_async_context(viewer(room_server, "room"))
        await viewing.until("moving", lambda r: r["moved"] > 30)
        attempts = watched.state("room").attempts
        link.loss, link.delay_s = 0.02, 0.03
        moved = viewing.report["moved"]
        await viewing.until("moving in spite of loss", lambda r: r["moved"] > moved + 90)
        await watched.connected("room", timeout_s=20)
        link.loss, link.delay_s, link.bytes_per_s = 0.0, 0.0, 50_000
        await watched.reports("room", "too low: only the audio of the programme gets through", 20)
        assert watched.delivery.counters("room").dropped > 0
        heard = viewing.report["audio"]["packetsReceived"]
        await viewing.until("heard", lambda r: r["audio"]["packetsReceived"] > heard + 50)
        assert watched.state("room").attempts == attempts, "it is still in the room"
        link.bytes_per_s = None
        moved = viewing.report["moved"]
        await watched.connected("room", timeout_s=40)
        await viewing.until("moving again", lambda r: r["moved"] > moved + 90)
        assert not watched.errors("healthy")
        await watched.delivery.finish()
        await far_end.gone("recorded/healthy")
        assert_every_packet_once(far_end.recorded("recorded/healthy"), sent, least_s=10)


async def _until_dropped(watched: WatchedDelivery, id_: str) -> None:
    """Waits until frames were dropped for a destination that is too slow."""
    counters = watched.delivery.counters
    await until(lambda: counters(id_).dropped, "frames are dropped")
