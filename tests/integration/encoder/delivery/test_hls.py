"""HLS into a real object storage: what a player gets, while the show runs and after it."""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
import time
from collections.abc import Callable
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from tests.support.delivery.certificates import Authority
from tests.support.delivery.hls_player import player
from tests.support.delivery.live_program import HEIGHT, WIDTH, live_program
from tests.support.delivery.storage_server import StorageServer
from tests.support.delivery.toxiproxy import Toxiproxy

from onair_crds.contract.program import DestinationState
from onair_encoder.publish import tls
from onair_encoder.publish.delivery import Delivery
from onair_encoder.publish.hls import output as hls
from onair_encoder.publish.hls import spool as spools
from onair_encoder.publish.hls.output import HlsPublisher
from onair_encoder.publish.hls.spool import Budget

AWAY_S = 30.0
NARROW_KB_S = 30


@pytest.fixture(autouse=True)
def spool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hls, "SPOOL", tmp_path / "spool")


async def until(check: Callable[[], object], what: str, timeout_s: float = 15.0) -> Any:
    end = time.monotonic() + timeout_s
    while not (found := check()):
        assert time.monotonic() < end, what
        await asyncio.sleep(0.05)
    return found


def text_of(path: Path) -> str:
    return path.read_text() if path.exists() else ""


def names(text: str) -> list[str]:
    return [line for line in text.splitlines() if line and not line.startswith("#")]


def begins_with(playlist: Path, prefix: str) -> bool:
    """Of the first segment that it names."""
    return any(name.startswith(prefix) for name in names(text_of(playlist))[:1])


def probe(playlist: Path) -> dict[str, list[dict[str, Any]]]:
    """Streams and packets of all that a playlist names."""
    command = ["ffprobe", "-v", "error", "-of", "json", "-allowed_extensions", "ALL"]
    entries = "stream=codec_name,width,height,sample_rate:packet=stream_index,dts_time"
    return json.loads(  # type: ignore[no-any-return]
        subprocess.run(
            [*command, "-show_entries", entries, str(playlist)], check=True, capture_output=True, timeout=30
        ).stdout
    )


def assert_whole(playlist: Path, least_s: float) -> None:
    """Right streams, and times without a hole or a step back; every picture can be decoded."""
    found = probe(playlist)
    video, audio = sorted(found["streams"], key=lambda stream: stream["codec_name"], reverse=True)
    assert (video["codec_name"], video["width"], video["height"]) == ("h264", WIDTH, HEIGHT)
    assert (audio["codec_name"], audio["sample_rate"]) == ("aac", "48000")
    for index in (0, 1):
        times = [float(p["dts_time"]) for p in found["packets"] if p["stream_index"] == index]
        assert times[-1] - times[0] > least_s
        assert all(0 < b - a < 0.06 for a, b in pairwise(times)), "a hole"
    decode = ["ffmpeg", "-v", "error", "-xerror", "-i", str(playlist), "-f", "null", "-"]
    result = subprocess.run(decode, check=False, capture_output=True, text=True, timeout=60)
    assert (result.returncode, result.stderr) == (0, "")


async def test_a_recording_is_whole_and_closed(tmp_path: Path) -> None:
    async with StorageServer(tmp_path) as server, live_program() as fan_out:
        folder = server.bucket() / "archive"
        states: list[DestinationState] = []
        archive = server.destination(vod=True)
        publisher = HlsPublisher(archive, fan_out, lambda: states.append(publisher.state), "run")
        await until(lambda: publisher.state.connect == "Connected", "the first segment is stored")
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


async def test_a_window_slides_and_old_segments_go(tmp_path: Path) -> None:
    async with StorageServer(tmp_path) as server, live_program() as fan_out:
        folder = server.bucket() / "live"
        live = server.destination("live", playlist_count=2, file_count=4)
        publisher = HlsPublisher(live, fan_out, lambda: None, "run")
        seen = ""
        end = time.monotonic() + 30
        while "run-00000006" not in seen:
            seen = text_of(folder / "index.m3u8")
            for name in names(seen):
                assert (folder / name).exists(), "a playlist names what is not there"
            assert len(names(seen)) <= 2
            assert time.monotonic() < end
            await asyncio.sleep(0.05)
        await until(lambda: len(list(folder.glob("*.ts"))) == 4, "old segments are deleted")
        assert "#EXT-X-MEDIA-SEQUENCE:5\n" in seen
        assert "PLAYLIST-TYPE" not in seen

        # Another encoder takes over: the numbers go on, and players are told of the cut
        publisher.abort()
        follower = HlsPublisher(live, fan_out, lambda: None, "run")
        taken = await until(
            lambda: (t := text_of(folder / "index.m3u8")).count("run-00000008") and t, "it goes on"
        )
        assert taken.count("#EXT-X-DISCONTINUITY\n") >= 1
        await follower.finish()
        closed = text_of(folder / "index.m3u8")
        assert closed.endswith("#EXT-X-ENDLIST\n")
        await asyncio.to_thread(probe, folder / "index.m3u8")

        # Another run begins anew, and removes what the last one left
        second = HlsPublisher(live, fan_out, lambda: None, "second")
        await until(lambda: second.state.connect == "Connected", "the next run is stored")
        assert "#EXT-X-MEDIA-SEQUENCE:0\n" in text_of(folder / "index.m3u8")
        await until(lambda: not list(folder.glob("run-*.ts")), "the old run's segments are gone")
        second.abort()


async def test_a_browser_plays_on_and_a_recording_is_whole_after_the_storage_was_away(tmp_path: Path) -> None:
    """The spool holds what comes meanwhile; a player that waits goes on, a recording has every picture."""
    async with StorageServer(tmp_path) as server, live_program() as fan_out:
        folder = server.bucket() / "live"
        live = server.destination("live", playlist_count=4, file_count=12)
        publisher = HlsPublisher(live, fan_out, lambda: None, "run")
        archive = HlsPublisher(server.destination("archive", vod=True), fan_out, lambda: None, "run")
        await until(lambda: "run-00000001" in text_of(folder / "index.m3u8"), "two segments")
        async with player(folder) as browser:
            report = await browser.until("playing", lambda r: r["time"] > 1 and r["decoded"] > 30)
            assert (report["width"], report["height"]) == (WIDTH, HEIGHT)
            assert report["audio"] > 0
            server.stop()
            words = await until(lambda: publisher.state.last_error, "the loss is told")
            assert words == f"connection refused by 127.0.0.1:{server.port}"
            await asyncio.sleep(AWAY_S)
            assert publisher.counters.queued_bytes > 0
            assert archive.state.connect == "Disconnected"
            await server.start()
            for each in (publisher, archive):
                await until(lambda each=each: each.state.connect == "Connected", "connected again", 30)
                assert each.state.last_error is None
            playing = browser.report["time"]
            report = await browser.until("playing on", lambda r: r["time"] > playing + 4, 30)
            assert not [fault for fault in report["faults"] if fault["fatal"]]
        await asyncio.gather(publisher.finish(), archive.finish())
        recording = folder.parent / "archive/run.m3u8"
        for each, playlist in ((publisher, folder / "index.m3u8"), (archive, recording)):
            assert "DISCONTINUITY" not in text_of(playlist)
            assert each.counters.dropped == 0
        assert_whole(recording, AWAY_S + 5)


async def test_a_line_narrower_than_the_show_is_made_up_for(tmp_path: Path) -> None:
    """Half of the bit rate passes for a while, and the proxy holds whole segments longer than the time-out:
    they are stored all the same, the rest later, and nothing is lost."""
    async with StorageServer(tmp_path) as server, Toxiproxy() as proxy, live_program() as fan_out:
        folder = server.bucket() / "archive"
        port = await proxy.link("storage", server.port)
        narrow = server.destination(vod=True, endpoint=f"http://127.0.0.1:{port}")
        publisher = HlsPublisher(narrow, fan_out, lambda: None, "run")
        await until(lambda: publisher.state.connect == "Connected", "the first segment")
        await proxy.poison("storage", "bandwidth", rate=NARROW_KB_S)
        await until(lambda: publisher.counters.queued_bytes > 10 * NARROW_KB_S * 1000, "it falls behind", 30)
        stored = publisher.counters.sent_bytes
        await until(lambda: publisher.counters.sent_bytes > stored + 200_000, "it is stored slowly", 40)
        await proxy.heal("storage", "bandwidth")
        await until(lambda: publisher.counters.queued_bytes < NARROW_KB_S * 1000, "made up for")
        await publisher.finish()
        assert publisher.counters.dropped == 0
        assert_whole(folder / "run.m3u8", 5)


async def test_a_recording_that_is_behind_has_a_playlist_and_is_closed(tmp_path: Path) -> None:
    """What can't be stored by the end is left out; all that is stored can be played."""
    async with StorageServer(tmp_path) as server, Toxiproxy() as proxy, live_program() as fan_out:
        playlist = server.bucket() / "archive/run.m3u8"
        port = await proxy.link("storage", server.port)
        narrow = server.destination(vod=True, endpoint=f"http://127.0.0.1:{port}", timeout_ms=10_000)
        publisher = HlsPublisher(narrow, fan_out, lambda: None, "run")
        await until(lambda: text_of(playlist), "the first segment")
        first = len(names(text_of(playlist)))
        await proxy.poison("storage", "bandwidth", rate=NARROW_KB_S)
        await until(lambda: len(names(text_of(playlist))) > first, "told while segments wait", 40)
        assert publisher.counters.queued_bytes > 0
        ending = time.monotonic()
        await publisher.finish()
        assert time.monotonic() - ending < publisher.finish_s
        text = text_of(playlist)
        assert text.endswith("#EXT-X-ENDLIST\n")
        assert set(names(text)) <= {each.name for each in playlist.parent.iterdir()}
        assert_whole(playlist, 3)


async def test_many_old_segments_do_not_hold_up_what_is_live(tmp_path: Path) -> None:
    """Each deletion takes 150 ms, and there are forty to be made."""
    async with StorageServer(tmp_path) as server, Toxiproxy() as proxy, live_program() as fan_out:
        folder = server.bucket() / "live"
        folder.mkdir()
        port = await proxy.link("storage", server.port)
        old = [f"last-{number:08}.ts" for number in range(40)]
        for name in old:
            (folder / name).write_bytes(b"old")
        entries = "".join(f"#EXTINF:2.0,\n{name}\n" for name in old[-4:])
        head = "#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXT-X-MEDIA-SEQUENCE:36\n"
        (folder / "index.m3u8").write_text(head + entries)
        await proxy.poison("storage", "latency", latency=150)
        live = {"playlist_count": 4, "file_count": 40, "segment_duration_ms": 1000}
        endpoint = f"http://127.0.0.1:{port}"
        wanted = server.destination("live", endpoint=endpoint, timeout_ms=5000, **live)
        publisher = HlsPublisher(wanted, fan_out, lambda: None, "run")
        await until(lambda: begins_with(folder / "index.m3u8", "run-"), "it is live")
        began = time.monotonic()
        await until(lambda: "run-00000003" in text_of(folder / "index.m3u8"), "it goes on")
        assert time.monotonic() - began < 6
        await until(lambda: not set(old) & {each.name for each in folder.iterdir()}, "all are gone", 30)
        publisher.abort()


async def test_a_full_spool_costs_the_oldest_and_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hls, "BUDGET", Budget(300_000))
    monkeypatch.setattr(spools, "MEMORY_BYTES", 100_000)
    async with StorageServer(tmp_path) as server, live_program() as fan_out:
        folder = server.bucket() / "archive"
        publisher = HlsPublisher(server.destination(vod=True), fan_out, lambda: None, "run")
        await until(lambda: publisher.state.connect == "Connected", "the first segment")
        server.stop()
        await until(lambda: publisher.counters.dropped > 0, "the spool is full", 30)
        await server.start()
        await until(lambda: publisher.state.connect == "Connected", "connected again", 30)
        await publisher.finish()
        playlist = text_of(folder / "run.m3u8")
        assert playlist.count("#EXT-X-DISCONTINUITY\n") == 1
        found = await asyncio.to_thread(probe, folder / "run.m3u8")
        times = [float(p["dts_time"]) for p in found["packets"] if p["stream_index"] == 0]
        assert sum(b - a > 1 for a, b in pairwise(times)) <= 1, "one hole, and it is announced"
        assert not list((tmp_path / "spool").rglob("*.ts")), "nothing is left behind"


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"secret_key": "wrong"}, "the secret key does not fit the access key"),
        ({"access_key": "nobody"}, "the access key is not known to"),
        ({"secret_key": ""}, "the access key or its secret is empty"),
        ({"bucket": "elsewhere"}, "bucket elsewhere was not found"),
        ({"endpoint": "http://127.0.0.1:9"}, "connection refused by 127.0.0.1:9"),
        ({"endpoint": "http://no-such-host.invalid"}, "no-such-host.invalid: name not found"),
    ],
)
async def test_what_is_wrong_is_said_and_a_change_mends_it(
    tmp_path: Path, changed: dict[str, str], words: str
) -> None:
    async with StorageServer(tmp_path) as server, live_program() as fan_out:
        server.bucket()
        publisher = HlsPublisher(server.destination(**changed), fan_out, lambda: None, "run")
        said = await until(lambda: publisher.state.last_error, "an error")
        assert words in said
        assert "s3cret" not in said
        mended = server.destination()
        if publisher.update(mended):
            await until(lambda: publisher.state.connect == "Connected", "rotated keys are taken at once")
        else:
            assert set(changed) & {"bucket", "endpoint"}
        publisher.abort()


async def test_a_slow_or_frozen_storage_is_told_from_a_fast_one(tmp_path: Path) -> None:
    async with StorageServer(tmp_path) as server, Toxiproxy() as proxy, live_program() as fan_out:
        server.bucket()
        port = await proxy.link("storage", server.port)
        slow = server.destination(endpoint=f"http://127.0.0.1:{port}")
        publisher = HlsPublisher(slow, fan_out, lambda: None, "run")
        await proxy.poison("storage", "latency", latency=150)
        await until(lambda: publisher.state.connect == "Connected", "slow is fast enough")
        await proxy.poison("storage", "timeout", timeout=0)
        words = await until(lambda: publisher.state.last_error, "the stall is told")
        assert "stalled" in words or "no answer" in words
        await proxy.heal("storage", "timeout")
        await until(lambda: publisher.state.connect == "Connected", "connected again", 30)
        publisher.abort()


async def test_a_full_storage_is_said(tmp_path: Path) -> None:
    async with StorageServer(tmp_path) as server, live_program() as fan_out:
        bucket = server.bucket()
        mounting = ["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", str(bucket)]
        await asyncio.to_thread(subprocess.run, mounting, check=True)
        try:
            publisher = HlsPublisher(server.destination(), fan_out, lambda: None, "run")
            words = await until(lambda: publisher.state.last_error, "an error", 20)
            assert words == "the storage is full"
            publisher.abort()
        finally:
            await asyncio.to_thread(subprocess.run, ["umount", "-l", str(bucket)], check=True)


async def test_a_recording_ends_at_its_longest_duration(tmp_path: Path) -> None:
    async with StorageServer(tmp_path) as server, live_program() as fan_out:
        folder = server.bucket() / "archive"
        short = server.destination(vod=True, max_duration_ms=3000)
        publisher = HlsPublisher(short, fan_out, lambda: None, "run")
        words = await until(lambda: publisher.state.last_error, "it is told")
        assert words == "the recording has its longest duration of 3 s"
        closed = text_of(folder / "run.m3u8")
        assert closed.endswith("#EXT-X-ENDLIST\n")
        assert len(names(closed)) == 2
        await publisher.finish()
        assert text_of(folder / "run.m3u8") == closed


async def test_a_destination_that_comes_back_at_once_goes_on_after_its_own_end(tmp_path: Path) -> None:
    """Every segment is stored once: the one that ends and the one that begins share the place."""
    async with StorageServer(tmp_path) as server, live_program() as fan_out:
        folder = server.bucket() / "archive"
        archive = server.destination(vod=True)
        delivery = Delivery(fan_out, lambda: None)
        delivery.want([archive], "run")
        await until(lambda: "run_rec-00000000" in text_of(folder / "run.m3u8"), "the first segment")
        delivery.want([], "run")
        delivery.want([archive], "run")
        await until(lambda: "ENDLIST" in text_of(folder / "run.m3u8"), "the first one has ended")
        ended = text_of(folder / "run.m3u8")
        contents = {name: (folder / name).read_bytes() for name in names(ended)}
        last = len(contents) - 1
        grown = await until(
            lambda: (t := text_of(folder / "run.m3u8")).count(f"run_rec-{last + 1:08}") and t, "it goes on"
        )
        assert names(grown)[: last + 1] == names(ended)
        assert {name: (folder / name).read_bytes() for name in contents} == contents
        assert grown.count("#EXT-X-DISCONTINUITY\n") == 1
        await delivery.finish()


async def test_two_destinations_do_not_overwrite_each_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(HlsPublisher, "finish_s", 1.0)
    async with StorageServer(tmp_path) as server, live_program() as fan_out:
        server.bucket()
        first = HlsPublisher(server.destination(), fan_out, lambda: None, "run")
        await until(lambda: first.state.connect == "Connected", "the first one")
        second = HlsPublisher(server.destination(), fan_out, lambda: None, "run")
        words = await until(lambda: second.state.last_error, "it is told")
        assert "another destination of this show writes to bucket shows" in words
        assert first.state.connect == "Connected"
        first.abort()
        second.abort()


async def test_what_waits_is_stored_though_the_destination_moves_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A successor under another prefix leaves its predecessor's spool alone."""
    monkeypatch.setattr(spools, "MEMORY_BYTES", 1000)
    async with StorageServer(tmp_path) as server, live_program() as fan_out:
        bucket = server.bucket()
        server.stop()
        delivery = Delivery(fan_out, lambda: None)
        delivery.want([server.destination(vod=True, prefix="before")], "run")
        await until(lambda: list((tmp_path / "spool").rglob("00000001.ts")), "segments on disk")
        await server.start()
        delivery.want([server.destination(vod=True, prefix="after")], "run")
        playlist = bucket / "before/run.m3u8"
        closed = await until(
            lambda: (text := text_of(playlist)).endswith("#EXT-X-ENDLIST\n") and text, "the old one is closed"
        )
        assert len(names(closed)) >= 3
        assert "DISCONTINUITY" not in closed
        await asyncio.to_thread(assert_whole, bucket / "before/run.m3u8", 3.0)
        await delivery.finish()


async def test_rotated_keys_do_not_break_off_what_is_on_its_way(tmp_path: Path) -> None:
    async with StorageServer(tmp_path) as server, Toxiproxy() as proxy, live_program() as fan_out:
        server.bucket()
        port = await proxy.link("storage", server.port)
        slow = server.destination(endpoint=f"http://127.0.0.1:{port}", timeout_ms=3000)
        states: list[DestinationState] = []
        publisher = HlsPublisher(slow, fan_out, lambda: states.append(publisher.state), "run")
        await until(lambda: publisher.state.connect == "Connected", "connected")
        await proxy.poison("storage", "latency", latency=1000)
        stored = publisher.state.bytes_sent
        await until(lambda: publisher.counters.queued_bytes > 0, "a segment is on its way")
        token = server.destination(endpoint=f"http://127.0.0.1:{port}", acl="private", timeout_ms=3000)
        assert publisher.update(token)
        await until(lambda: publisher.state.bytes_sent > stored, "it arrives")
        assert [state.connect for state in states] == ["Connected"]
        publisher.abort()


async def test_a_storage_that_answers_later_than_the_time_out_is_connected(tmp_path: Path) -> None:
    async with StorageServer(tmp_path) as server, Toxiproxy() as proxy, live_program() as fan_out:
        server.bucket()
        port = await proxy.link("storage", server.port)
        await proxy.poison("storage", "latency", latency=200)
        far = server.destination(endpoint=f"http://127.0.0.1:{port}", timeout_ms=100)
        states: list[DestinationState] = []
        publisher = HlsPublisher(far, fan_out, lambda: states.append(publisher.state), "run")
        await until(lambda: publisher.state.connect == "Connected", "a far storage")
        assert not [state.last_error for state in states if state.last_error]
        publisher.abort()


async def test_a_recording_is_left_alone_by_what_follows_at_its_place(tmp_path: Path) -> None:
    async with StorageServer(tmp_path) as server, live_program() as fan_out:
        folder = server.bucket() / "show"
        recorded = server.destination("show", vod=True)
        recorder = HlsPublisher(recorded, fan_out, lambda: None, "run")
        await until(lambda: len(names(text_of(folder / "run.m3u8"))) >= 2, "two segments are recorded")
        await recorder.finish()
        kept = {name: (folder / name).read_bytes() for name in names(text_of(folder / "run.m3u8"))}
        # The same run as a window, then another run: neither takes the recording for its own
        window = server.destination("show", playlist_count=2, file_count=2)
        for run in ("run", "next"):
            live = HlsPublisher(window, fan_out, lambda: None, run)
            await until(partial(begins_with, folder / "index.m3u8", f"{run}-0"), "it is live")
            assert "#EXT-X-MEDIA-SEQUENCE:0\n" in text_of(folder / "index.m3u8")
            live.abort()
            await until(live._task.done, "it has ended")
        assert {name: (folder / name).read_bytes() for name in kept} == kept


async def test_a_storage_is_trusted_by_the_authorities_that_were_added(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    authority, trusted = Authority(tmp_path), tmp_path / "trusted"
    trusted.mkdir()
    monkeypatch.setattr(tls, "AUTHORITIES", trusted)
    certificate = authority.sign("localhost")
    async with StorageServer(tmp_path, "localhost", certificate) as server, live_program() as fan_out:
        server.bucket()
        publisher = HlsPublisher(server.destination(), fan_out, lambda: None, "run")
        words = await until(lambda: publisher.state.last_error, "an error")
        assert words.startswith(
            f"localhost:{server.port}: TLS failed: no known authority has signed the certificate"
        )
        (trusted / "own.crt").write_bytes(authority.pem)
        publisher.retry_now()
        await until(lambda: publisher.state.connect == "Connected", "it is trusted")
        publisher.abort()


async def test_what_passes_within_the_time_out_is_not_told(tmp_path: Path) -> None:
    async with StorageServer(tmp_path) as server, live_program() as fan_out:
        folder = server.bucket() / "archive"
        states: list[str] = []
        recorded = server.destination(vod=True, timeout_ms=10_000)
        publisher = HlsPublisher(recorded, fan_out, lambda: states.append(publisher.state.connect), "run")
        await until(lambda: publisher.state.connect == "Connected", "the first segment is stored")
        stored = len(names(text_of(folder / "run.m3u8")))
        server.stop()
        await until(lambda: publisher.counters.queued_bytes > 0, "a segment waits")
        await server.start()
        await until(lambda: len(names(text_of(folder / "run.m3u8"))) > stored, "it is stored")
        publisher.abort()
        assert states == ["Connected"]
