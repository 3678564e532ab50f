"""Streams by HLS from a real gateway: all of it decodes, across ends of a stream; nothing without players."""

from __future__ import annotations

import asyncio
import re
import subprocess
import time
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.support.delivery.hls_player import playing
from tests.support.ingest.encoder import COPIED, SIZES, FfmpegEncoder, picture, resized, tone
from tests.support.ingest.follower import Follower
from tests.support.ingest.hls_relay import relayed
from tests.support.ingest.ingest_pod import IngestPod
from tests.support.ingest.scripted_facade import ScriptedFacade
from tests.support.waiting import wait_for

from onair_crds.contract.ingest_gateway import STREAMS_PATH, reader_token, stream_of_key
from onair_crds.contract.previews import HLS_PLAYLIST, HLS_SUFFIX
from onair_crds.shapes import JsonObject

pytestmark = pytest.mark.media


class HlsClient:
    """Asks the gateway as the facade does."""

    def __init__(self, pod: IngestPod, secret: bytes, key: str) -> None:
        stream = stream_of_key(key)
        self.url = f"http://127.0.0.1:{pod.port}{STREAMS_PATH}/{stream}{HLS_SUFFIX}/"
        self.token = reader_token(secret, stream)

    def get(self, name: str = HLS_PLAYLIST) -> httpx.Response:
        headers = {"Authorization": f"Bearer {self.token}"}
        return httpx.get(self.url + name, headers=headers, timeout=25)

    def segments(self) -> list[str]:
        text = self.get().raise_for_status().text
        return [line for line in text.splitlines() if line.endswith(".ts")]

    def decoded(self, seconds: int) -> dict[str, float]:
        """Frames of video and seconds of media that ffmpeg decodes; it fails at the first error."""
        command = [
            *("ffmpeg", "-nostdin", "-loglevel", "error", "-xerror", "-err_detect", "explode"),
            *("-headers", f"Authorization: Bearer {self.token}\r\n", "-i", self.url + HLS_PLAYLIST),
            # Times are in milliseconds by RTMP: rounded to those of 30 frames a second, two may be the same
            *(
                "-fps_mode",
                "passthrough",
                "-enc_time_base",
                "-1",
                "-t",
                str(seconds),
                "-progress",
                "pipe:1",
                "-f",
                "null",
                "-",
            ),
        ]
        run = subprocess.run(command, check=False, capture_output=True, text=True, timeout=60)
        assert run.returncode == 0, run.stderr
        frames = [int(line[6:]) for line in run.stdout.splitlines() if line.startswith("frame=")]
        times_s = [
            int(line[12:]) / 1e6 for line in run.stdout.splitlines() if line.startswith("out_time_us=")
        ]
        return {
            "frames": max(frames, default=0),
            "seconds": times_s[-1],
            "errors": len(run.stderr.splitlines()),
        }


@pytest.fixture
def client(pod: IngestPod, secret: bytes, key: str) -> HlsClient:
    return HlsClient(pod, secret, key)


@pytest.mark.parametrize("audio", [tone(), tone(44_100, 1), []])
def test_what_is_pushed_with_b_frames_is_played(
    pod: IngestPod, follower: Follower, client: HlsClient, key: str, audio: list[str]
) -> None:
    with FfmpegEncoder(f"{pod.rtmp}/{key}", video=picture("640x360"), audio=audio):
        follower.flowing(key)
        found = client.decoded(6)
    assert found["frames"] >= 150
    assert found["errors"] == 0


def test_key_frames_may_be_ten_seconds_apart(
    pod: IngestPod, follower: Follower, client: HlsClient, key: str
) -> None:
    with FfmpegEncoder(f"{pod.rtmp}/{key}", options=("-g", "300", "-sc_threshold", "0")):
        follower.flowing(key)
        playlist = client.get()
    assert playlist.status_code == 200, "the first player waits for a key frame and a GOP"
    durations_s = [float(line) for line in re.findall(r"#EXTINF:(\S+),", playlist.text)]
    assert durations_s == pytest.approx([10.0], abs=0.1)


def test_what_is_pushed_without_video_is_played(
    pod: IngestPod, follower: Follower, client: HlsClient, key: str
) -> None:
    with FfmpegEncoder(f"{pod.rtmp}/{key}", video=[]):
        follower.flowing(key)
        found = client.decoded(4)
    assert (found["frames"], found["errors"]) == (0, 0)
    assert found["seconds"] == pytest.approx(4, abs=0.1)


def test_what_no_player_decodes_is_refused_at_once(
    pod: IngestPod, follower: Follower, client: HlsClient, key: str
) -> None:
    options = ("-c:v", "libx265", "-x265-params", "log-level=none")
    with FfmpegEncoder(pod.srt(f"publish:{key}"), audio=[], options=options):
        follower.flowing(key)
        began_s = time.monotonic()
        response = client.get()
    assert (response.status_code, response.text) == (415, "H.264 or AAC is needed, and it has H265")
    assert time.monotonic() - began_s < 2


@pytest.mark.parametrize("lacks", ["video", "audio"])
async def test_a_browser_plays_what_has_only_audio_or_only_video(
    pod: IngestPod, follower: Follower, client: HlsClient, key: str, lacks: str
) -> None:
    without: dict[str, Any] = {lacks: []}
    with FfmpegEncoder(pod.srt(f"publish:{key}"), **without):
        await asyncio.to_thread(follower.flowing, key)
        async with relayed(pod, key) as url, playing(url) as viewer:
            report = await viewer.until("three seconds", lambda report: report["time"] > 3, 30)
    assert (report["width"], report["decoded"] > 60) == ((0, False) if lacks == "video" else (320, True))
    assert bool(report["audio"]) is (lacks == "video")
    assert not [fault for fault in report["faults"] if fault["fatal"]]


def has_size(size: tuple[int, int], report: JsonObject) -> bool:
    return (report["width"], report["height"]) == size


async def test_a_browser_plays_on_when_the_size_changes_in_mid_stream(
    pod: IngestPod, follower: Follower, key: str, tmp_path: Path
) -> None:
    # Again and again: a browser that starts late has missed the first size
    clip = ["-stream_loop", "-1", *resized(tmp_path, seconds=8)]
    with FfmpegEncoder(f"{pod.rtmp}/{key}", video=clip, audio=[], options=COPIED):
        await asyncio.to_thread(follower.flowing, key)
        async with relayed(pod, key) as url, playing(url) as viewer:
            for size in SIZES:
                report = await viewer.until(f"{size} is played", partial(has_size, size), 30)
            began_s = report["time"]
            report = await viewer.until("a second of it", lambda report: report["time"] > began_s + 1, 30)
    assert not [fault for fault in report["faults"] if fault["fatal"]]


def test_an_encoder_that_reconnects_makes_a_discontinuity_and_play_goes_on(
    pod: IngestPod, follower: Follower, client: HlsClient, key: str
) -> None:
    with FfmpegEncoder(f"{pod.rtmp}/{key}"):
        follower.flowing(key)
        before = client.segments()
    follower.ended(key)
    told = len(follower.of(key))
    assert client.get().is_success, "players wait meanwhile"
    with FfmpegEncoder(f"{pod.rtmp}/{key}", video=picture("640x360")):
        follower.flowing(key, after=told)
        wait_for(lambda: "#EXT-X-DISCONTINUITY\n" in client.get().text, "a discontinuity", 20)
        playlist = client.get().text
    assert before[0] in playlist
    assert playlist.count("#EXT-X-DISCONTINUITY\n") == 1


def test_nothing_is_cut_without_a_player(
    tmp_path: Path, scripted_facade: ScriptedFacade, secret: bytes, key: str
) -> None:
    with IngestPod(tmp_path, scripted_facade.url, secret) as pod, pod.follow() as follower:
        client = HlsClient(pod, secret, key)
        assert client.get().status_code == 404
        with FfmpegEncoder(f"{pod.rtmp}/{key}"):
            follower.flowing(key)
            assert pod.metric("onair_ingest_hls_streams") == 0
            first = client.segments()
            assert pod.metric("onair_ingest_hls_streams") == 1
            assert client.get(first[0]).content[:1] == b"\x47"
            assert client.get("0.ts").status_code == 404
            wait_for(lambda: pod.metric("onair_ingest_hls_streams") == 0, "nobody plays it", 30)


def test_strangers_are_given_nothing(pod: IngestPod, follower: Follower, client: HlsClient, key: str) -> None:
    with FfmpegEncoder(f"{pod.rtmp}/{key}"):
        follower.flowing(key)
        assert httpx.get(client.url + HLS_PLAYLIST).status_code == 401
        assert httpx.get(client.url + "1.ts", headers={"Authorization": "Bearer x"}).status_code == 401


def test_a_player_that_reads_slowly_holds_up_nobody(
    pod: IngestPod, follower: Follower, client: HlsClient, key: str
) -> None:
    options = ("-b:v", "12M", "-maxrate", "12M", "-bufsize", "12M", "-x264-params", "nal-hrd=cbr")
    with FfmpegEncoder(f"{pod.rtmp}/{key}", options=options):
        follower.flowing(key)
        name = client.segments()[0]
        headers = {"Authorization": f"Bearer {client.token}"}
        with httpx.stream("GET", client.url + name, headers=headers) as slow:
            assert slow.is_success
            began_s = time.monotonic()
            assert client.get(name).is_success
            assert time.monotonic() - began_s < 2, "twice the second that it may take"
