"""Segments that wait while the storage is unavailable, slow or elsewhere."""

from __future__ import annotations

import asyncio
from itertools import pairwise
from pathlib import Path

import pytest
from tests.support.delivery.bucket import (
    assert_whole,
    hls_publisher,
    names,
    probe,
    text_of,
    until_connected,
    until_error,
)
from tests.support.delivery.hls_player import player
from tests.support.delivery.live_program import HEIGHT, WIDTH, live_program
from tests.support.delivery.storage_server import StorageServer
from tests.support.delivery.toxiproxy import Toxiproxy
from tests.support.delivery.watched import SentPackets
from tests.support.waiting import until

from onair_encoder.publish.delivery import Delivery
from onair_encoder.publish.encoder_run import EncoderRun
from onair_encoder.publish.hls import leftovers
from onair_encoder.publish.hls import spool as spool_module
from onair_encoder.publish.hls.kept_segments import Budget

pytestmark = pytest.mark.media

OUTAGE_S = 30.0
"""Of the programme's time: several times the window of the player."""
SLOW_KB_S = 30


async def test_a_player_continues_and_a_recording_is_whole_after_an_outage_of_the_storage(
    tmp_path: Path,
) -> None:
    """The spool holds what comes meanwhile; a player that waits continues, a recording has every frame."""
    async with StorageServer(tmp_path) as server, live_program() as fan_out:
        folder = server.bucket() / "live"
        live = server.destination("live", playlist_count=4, file_count=12)
        publisher = hls_publisher(live, fan_out)
        archive = hls_publisher(server.destination("archive", vod=True), fan_out)
        await until(lambda: "run-00000001" in text_of(folder / "index.m3u8"), "two segments")
        async with player(folder) as browser:
            report = await browser.until("playing", lambda r: r["time"] > 1 and r["decoded"] > 30)
            assert (report["width"], report["height"]) == (WIDTH, HEIGHT)
            assert report["audio"] > 0
            server.stop()
            words = await until_error(publisher)
            assert words == f"connection refused by 127.0.0.1:{server.port}"
            missed = SentPackets(fan_out)
            await until(lambda: missed.seconds >= OUTAGE_S, "an outage", OUTAGE_S + 15)
            assert publisher.destination.counters.queued_bytes > 0
            assert archive.destination.state.connect == "Disconnected"
            await server.start()
            for each in (publisher, archive):
                await until_connected(each, 30)
                assert each.destination.state.last_error is None
            playing = browser.report["time"]
            report = await browser.until("playing on", lambda r: r["time"] > playing + 4, 30)
            assert not [fault for fault in report["faults"] if fault["fatal"]]
        await asyncio.gather(publisher.finish(), archive.finish())
        recording = folder.parent / "archive/run.m3u8"
        for each, playlist in ((publisher, folder / "index.m3u8"), (archive, recording)):
            assert "DISCONTINUITY" not in text_of(playlist)
            assert each.destination.counters.dropped == 0
        assert_whole(recording, OUTAGE_S + 5)


async def test_a_recording_catches_up_after_the_network_was_too_slow(tmp_path: Path) -> None:
    """Half of the bitrate passes for a while, and the proxy holds whole segments longer than the timeout:
    they are stored all the same, the rest later, and nothing is dropped.
    """
    async with StorageServer(tmp_path) as server, Toxiproxy() as proxy, live_program() as fan_out:
        folder = server.bucket() / "archive"
        port = await proxy.link("storage", server.port)
        slow = server.destination(vod=True, endpoint=f"http://127.0.0.1:{port}")
        publisher = hls_publisher(slow, fan_out)
        await until_connected(publisher)
        await proxy.poison("storage", "bandwidth", rate=SLOW_KB_S)
        await until(
            lambda: publisher.destination.counters.queued_bytes > 10 * SLOW_KB_S * 1000, "it falls behind", 30
        )
        stored = publisher.destination.counters.sent_bytes
        await until(
            lambda: publisher.destination.counters.sent_bytes > stored + 200_000, "it is stored slowly", 40
        )
        await proxy.heal("storage", "bandwidth")
        await until(lambda: publisher.destination.counters.queued_bytes < SLOW_KB_S * 1000, "made up for")
        await publisher.finish()
        assert publisher.destination.counters.dropped == 0
        assert_whole(folder / "run.m3u8", 5)


async def test_a_full_spool_drops_the_oldest_as_a_discontinuity(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(leftovers, "BUDGET", Budget(300_000))
    monkeypatch.setattr(spool_module, "MEMORY_BYTES", 100_000)
    async with StorageServer(tmp_path) as server, live_program(1500) as fan_out:
        folder = server.bucket() / "archive"
        publisher = hls_publisher(server.destination(vod=True), fan_out)
        await until_connected(publisher)
        server.stop()
        await until(lambda: publisher.destination.counters.dropped > 0, "the spool is full", 30)
        await server.start()
        await until_connected(publisher, 30)
        await publisher.finish()
        playlist = text_of(folder / "run.m3u8")
        announced = playlist.count("#EXT-X-DISCONTINUITY\n")
        assert announced in (1, 2), (
            "a segment that is under way when others are dropped parts the hole in two"
        )
        found = await asyncio.to_thread(probe, folder / "run.m3u8")
        times = [float(p["dts_time"]) for p in found["packets"] if p["stream_index"] == 0]
        assert sum(b - a > 1 for a, b in pairwise(times)) <= announced, "every hole is announced"
        assert not list((tmp_path / "spool").rglob("*.ts")), "nothing is left behind"


async def test_an_agent_that_is_restarted_stores_what_its_predecessor_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With what was under way and what was being cut, as it was closed and not killed."""
    async with StorageServer(tmp_path) as server, live_program() as fan_out:
        folder = server.bucket() / "archive"
        archive = server.destination(vod=True)
        publisher = hls_publisher(archive, fan_out)
        await until_connected(publisher)
        server.stop()
        on_disk = tmp_path / "spool"
        await until(lambda: len(list(on_disk.rglob("*.json"))) >= 4, "segments are kept")
        publisher.abort()
        await until(publisher._task.done, "the agent has ended")
        monkeypatch.setattr(leftovers, "_leftovers", {})
        await server.start()
        follower = hls_publisher(archive, fan_out)
        await until_connected(follower)
        await until(lambda: not follower.destination.counters.queued_bytes, "all is stored")
        await follower.finish()
        text = text_of(folder / "run.m3u8")
        assert len(names(text)) >= 1 + 4 + 2
        assert follower.destination.state.missing_s < 1.5, "the time between the two"
        assert not list(on_disk.rglob("*.ts")), "nothing is left behind"


async def test_what_waits_is_stored_though_the_prefix_has_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A successor under another prefix leaves its predecessor's spool alone."""
    monkeypatch.setattr(spool_module, "MEMORY_BYTES", 1000)
    async with StorageServer(tmp_path) as server, live_program() as fan_out:
        bucket = server.bucket()
        server.stop()
        delivery = Delivery(fan_out, lambda: None)
        delivery.want([server.destination(vod=True, prefix="before")], EncoderRun("run"))
        await until(lambda: list((tmp_path / "spool").rglob("00000004.ts")), "segments on disk")
        await server.start()
        delivery.want([server.destination(vod=True, prefix="after")], EncoderRun("run"))
        playlist = bucket / "before/run.m3u8"
        closed = await until(
            lambda: (text := text_of(playlist)).endswith("#EXT-X-ENDLIST\n") and text, "the old one is closed"
        )
        assert len(names(closed)) >= 3
        assert "DISCONTINUITY" not in closed
        await asyncio.to_thread(assert_whole, bucket / "before/run.m3u8", 3.0)
        await delivery.finish()
