"""HLS into a real object storage: what a player gets, while the show runs and after it."""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from tests.integration.encoder.delivery.live_program import HEIGHT, WIDTH, live_program
from tests.integration.encoder.delivery.storage_server import StorageServer

from onair_crds.program import DestinationState
from onair_encoder.publish.hls import publisher as hls
from onair_encoder.publish.hls.publisher import HlsPublisher


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
        await asyncio.to_thread(assert_whole, folder / "run.m3u8", 6.0)
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
