"""A recording is whole and closed, whatever comes between."""

from __future__ import annotations

import asyncio
import re
import time
from functools import partial
from pathlib import Path

import pytest
from tests.support.delivery.bucket import (
    assert_whole,
    begins_with,
    hls_publisher,
    names,
    text_of,
    until_connected,
    until_error,
)
from tests.support.delivery.live_program import live_program
from tests.support.delivery.storage_server import StorageServer
from tests.support.delivery.toxiproxy import Toxiproxy
from tests.support.waiting import until

from onair_crds.contract.program import DestinationState
from onair_encoder.publish.delivery import Delivery
from onair_encoder.publish.encoder_run import EncoderRun
from onair_encoder.publish.hls.output import HlsOutput

pytestmark = pytest.mark.media

SLOW_KB_S = 30


async def test_a_recording_is_whole_and_closed(tmp_path: Path) -> None:
    async with StorageServer(tmp_path) as server, live_program() as fan_out:
        folder = server.bucket() / "archive"
        states: list[DestinationState] = []
        archive = server.destination(vod=True, segment_duration_ms=2000)
        publisher = hls_publisher(archive, fan_out, lambda: states.append(publisher.destination.state))
        await until_connected(publisher)
        growing = text_of(folder / "run.m3u8")
        assert "#EXT-X-PLAYLIST-TYPE:EVENT" in growing
        assert "ENDLIST" not in growing
        await until(lambda: len(names(text_of(folder / "run.m3u8"))) >= 3, "three segments")
        await publisher.finish()
        closed = text_of(folder / "run.m3u8")
        assert closed.endswith("#EXT-X-ENDLIST\n")
        assert "#EXT-X-PLAYLIST-TYPE:VOD" in closed
        assert closed == text_of(folder / "index.m3u8")
        assert {path.name for path in folder.glob("*.ts")} == set(names(closed))
        durations = [float(found) for found in re.findall(r"#EXTINF:([0-9.]+)", closed)]
        assert all(1.95 <= each <= 2.1 for each in durations[:-1])
        await asyncio.to_thread(assert_whole, folder / "run.m3u8", 5.9)
        assert [state.connect for state in states] == ["Connected"]


async def test_a_recording_that_is_behind_has_a_playlist_and_is_closed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What cannot be stored in the time for that is said to be missing; all that is stored can be played."""
    monkeypatch.setattr(HlsOutput, "drain_s", HlsOutput.finish_s)
    async with StorageServer(tmp_path) as server, Toxiproxy() as proxy, live_program() as fan_out:
        playlist = server.bucket() / "archive/run.m3u8"
        port = await proxy.link("storage", server.port)
        slow = server.destination(vod=True, endpoint=f"http://127.0.0.1:{port}", timeout_ms=10_000)
        publisher = hls_publisher(slow, fan_out)
        await until(lambda: text_of(playlist), "the first segment")
        first = len(names(text_of(playlist)))
        await proxy.poison("storage", "bandwidth", rate=SLOW_KB_S)
        await until(lambda: len(names(text_of(playlist))) > first, "a playlist while segments wait", 40)
        assert publisher.destination.counters.queued_bytes > 0
        ending = time.monotonic()
        await publisher.finish()
        assert time.monotonic() - ending < HlsOutput.finish_s
        assert publisher.destination.state.missing_s > 1
        text = text_of(playlist)
        assert text.endswith("#EXT-X-ENDLIST\n")
        assert set(names(text)) <= {each.name for each in playlist.parent.iterdir()}
        assert_whole(playlist, 3)


async def test_what_waits_is_stored_after_the_stop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Though that takes longer than streams have to end."""
    monkeypatch.setattr(HlsOutput, "finish_s", 2.0)
    async with StorageServer(tmp_path) as server, live_program() as fan_out:
        playlist = server.bucket() / "archive/run.m3u8"
        publisher = hls_publisher(server.destination(vod=True), fan_out)
        await until_connected(publisher)
        server.stop()
        await until(lambda: publisher.destination.state.waiting_s > 3, "segments wait")
        ending, began = asyncio.create_task(publisher.finish()), time.monotonic()
        await until(lambda: time.monotonic() - began > 2 * HlsOutput.finish_s, "streams have ended long ago")
        assert not ending.done()
        await server.start()
        await ending
        assert text_of(playlist).endswith("#EXT-X-ENDLIST\n")
        assert (publisher.destination.state.waiting_s, publisher.destination.state.missing_s) == (0.0, 0.0)
        assert_whole(playlist, 4)


async def test_a_storage_that_stays_away_is_given_up_and_what_is_missing_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(HlsOutput, "still_s", 1.0)
    monkeypatch.setattr(HlsOutput, "finish_s", 3.0)
    async with StorageServer(tmp_path) as server, live_program() as fan_out:
        server.bucket()
        publisher = hls_publisher(server.destination(vod=True), fan_out)
        await until_connected(publisher)
        server.stop()
        await until(lambda: publisher.destination.state.waiting_s > 2, "segments wait")
        began = time.monotonic()
        await publisher.finish()
        assert time.monotonic() - began < 8
        assert publisher.destination.state.missing_s > 2


async def test_a_recording_ends_at_its_longest_duration(tmp_path: Path) -> None:
    async with StorageServer(tmp_path) as server, live_program() as fan_out:
        folder = server.bucket() / "archive"
        short = server.destination(vod=True, max_duration_ms=3000)
        publisher = hls_publisher(short, fan_out)
        words = await until_error(publisher)
        assert words == "the recording has reached its maximum duration of 3 s"
        closed = text_of(folder / "run.m3u8")
        assert closed.endswith("#EXT-X-ENDLIST\n")
        assert len(names(closed)) == 3
        await publisher.finish()
        assert text_of(folder / "run.m3u8") == closed


async def test_a_destination_that_is_added_again_at_once_goes_on_with_its_own_recording(
    tmp_path: Path,
) -> None:
    """It takes over from the one that is being ended: every segment is stored once, and no end in between."""
    async with StorageServer(tmp_path) as server, live_program() as fan_out:
        folder = server.bucket() / "archive"
        archive = server.destination(vod=True)
        delivery = Delivery(fan_out, lambda: None)
        delivery.want([archive], EncoderRun("run"))
        await until(lambda: "run_rec-00000000" in text_of(folder / "run.m3u8"), "the first segment")
        begun = names(text_of(folder / "run.m3u8"))
        contents = {name: (folder / name).read_bytes() for name in begun}
        delivery.want([], EncoderRun("run"))
        delivery.want([archive], EncoderRun("run"))
        grown = await until(
            lambda: len(names(t := text_of(folder / "run.m3u8"))) >= len(begun) + 3 and t, "it goes on"
        )
        assert names(grown)[: len(begun)] == begun
        assert {name: (folder / name).read_bytes() for name in contents} == contents
        assert "ENDLIST" not in grown
        await delivery.finish()
        closed = text_of(folder / "run.m3u8")
        assert closed.count("#EXT-X-DISCONTINUITY\n") <= 2, "where the spool was taken over, and after it"
        assert set(names(closed)) <= {each.name for each in folder.glob("*.ts")}
        assert closed == text_of(folder / "index.m3u8")


async def test_a_recording_is_left_alone_by_what_follows_under_its_prefix(tmp_path: Path) -> None:
    async with StorageServer(tmp_path) as server, live_program() as fan_out:
        folder = server.bucket() / "show"
        recorded = server.destination("show", vod=True)
        recorder = hls_publisher(recorded, fan_out)
        await until(lambda: len(names(text_of(folder / "run.m3u8"))) >= 2, "two segments are recorded")
        await recorder.finish()
        kept = {name: (folder / name).read_bytes() for name in names(text_of(folder / "run.m3u8"))}
        # The same run as a window, then another run: neither takes the recording for its own
        window = server.destination("show", playlist_count=2, file_count=2)
        for run in ("run", "next"):
            live = hls_publisher(window, fan_out, run=run)
            await until(partial(begins_with, folder / "index.m3u8", f"{run}-0"), "it is live")
            begun = text_of(folder / "index.m3u8")
            assert ("#EXT-X-MEDIA-SEQUENCE:0\n" in begun) is (run == "run"), "numbers go on after a window"
            live.abort()
            await until(live._task.done, "it has ended")
        assert {name: (folder / name).read_bytes() for name in kept} == kept
