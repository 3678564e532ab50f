"""A page in the pod's browser shows and plays what ffmpeg pushes, with B-frames and AAC."""

from __future__ import annotations

import statistics
from pathlib import Path

import pytest
from tests.support.ingest.clip import ClipEncoding, clicks_ms, make_clip
from tests.support.ingest.watched_page import WatchedPage
from tests.support.waiting import wait_for

pytestmark = pytest.mark.media
CLIP_S = 40.0
LATENCY_MS, AV_MS = 350.0, 40.0


@pytest.fixture(scope="module")
def clip(tmp_path_factory: pytest.TempPathFactory) -> Path:
    encoding = ClipEncoding(width=640, height=360, bitrate_kbps=800)
    return make_clip(tmp_path_factory.mktemp("clip") / "clip.mkv", CLIP_S, encoding)


def latency_ms(watched: WatchedPage) -> float:
    """Of the last pictures; a busy machine is late for some."""
    return statistics.median(watched.seen().latencies_ms(watched.arrivals.at_ms)[-100:])


def test_a_page_shows_and_plays_a_pushed_source_and_one_that_is_back(tmp_path: Path, clip: Path) -> None:
    with WatchedPage(tmp_path) as watched:
        push = watched.push(clip)
        watched.show("access-units", watch="1")
        seen = watched.wait_seen(250)
        wait_for(lambda: latency_ms(watched) < LATENCY_MS * 2, "pictures are in time", 15, poll_s=1)
        offset = seen.av_offset_ms(clicks_ms(CLIP_S))
        assert offset is not None, "clicks and pictures do not fit"
        assert abs(offset) < AV_MS * 2
        clocks = [clock for clock, _ in seen.frames]
        assert clocks == sorted(clocks), "pictures were shown out of order"

        push.kill()
        push.wait()
        wait_for(lambda: not watched.server.path("one").get("ready"), "the source is away")
        last = watched.seen().frames[-1]
        watched.push(clip)
        wait_for(lambda: watched.seen().frames[-1] != last, "the source is back on the page")
        again = watched.wait_seen(len(seen.frames) + 150)
        assert again.frames[-1][0] < clocks[-1], "the clip began anew"


def test_a_page_goes_on_when_gateway_and_agent_were_killed(tmp_path: Path, clip: Path) -> None:
    with WatchedPage(tmp_path) as watched:
        watched.push(clip)
        watched.show("access-units", watch="1")
        watched.wait_seen(60)
        watched.restart_relay()
        before = len(watched.wait_seen(1).frames)
        clocks = [clock for clock, _ in watched.wait_seen(before + 90).frames]
        assert clocks == sorted(clocks)
