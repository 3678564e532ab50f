"""A show from its first frame to its end."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from tests.support.delivery.rtmp_container import RtmpContainer
from tests.support.docker import docker
from tests.support.media.painted import Painted, read_frame
from tests.support.media.stream import gray_pixels
from tests.support.pod_pair import PodPair, programme

from onair_crds.contract.program import ProgramDestination

pytestmark = pytest.mark.media


def test_a_show_from_its_first_frame_to_its_end(pair: PodPair, page: str, far_end: RtmpContainer) -> None:
    assert pair.put(programme(page, far_end, "one")).status_code == 200
    assert pair.wait_phase("running").first_frame
    assert_snapshots(pair)
    assert_no_page_of_the_browsers_own(pair)
    assert_metrics(pair)

    nowhere = ProgramDestination(id="gone", type="RTMP", url="rtmp://127.0.0.1:9/live", key="s3cret")
    both = programme(page, far_end, "one", "two")
    first = far_end.wait_publisher("one")
    pair.put(both.model_copy(update={"destinations": [*both.destinations, nowhere]}))
    pair.wait_connected("one", "two")
    pair.wait_for(lambda: pair.states()["gone"].last_error, "refused")
    gone = pair.states()["gone"]
    assert (gone.connect, gone.last_error) == ("Disconnected", "connection refused by 127.0.0.1:9")
    assert far_end.publisher("one") == first
    pair.put(programme(page, far_end, "one"))
    pair.wait_for(lambda: not far_end.path("two"), "removed")
    assert far_end.publisher("one") == first

    pair.put(programme(page, far_end, "one", stop=True))
    pair.wait_phase("finished")
    pair.wait_for(lambda: not far_end.path("one"), "ended")
    assert "s3cret" not in pair.logs("encoder") + pair.logs("browser")


def assert_no_page_of_the_browsers_own(pair: PodPair) -> None:
    """Pages for menus take a fifth of the memory, and as much CPU at a start as the browser itself."""
    listed = docker("top", f"{pair.name}-browser", "-ww", "-eo", "pid,args")
    renderers = [line for line in listed.splitlines() if "--type=renderer" in line]
    assert renderers
    assert not [line for line in renderers if "webui" in line], listed


def assert_metrics(pair: PodPair) -> None:
    """Counters grow, also across a restart of ffmpeg; the delay is that of a live encode."""
    first = pair.metrics()
    pair.kill("encoder", "x11grab")
    streams = first["onair_encoder_streams_total"]
    pair.wait_for(lambda: pair.metrics()["onair_encoder_streams_total"] == streams + 1, "restarted")
    pair.wait_for(lambda: pair.metrics()["onair_encoder_speed"] > 0.5, "encoding")
    nominal_bps = pytest.approx(730_000, rel=0.3)
    # Of the last seconds, the restart among them
    pair.wait_for(lambda: pair.metrics()["onair_encoder_bitrate_bps"] == nominal_bps, "the nominal bitrate")
    after = pair.metrics()
    for name in ("frames", "dropped_frames", "duplicated_frames", "program_bytes"):
        assert after[f"onair_encoder_{name}_total"] >= first[f"onair_encoder_{name}_total"]
    assert after["onair_encoder_frames_total"] > first["onair_encoder_frames_total"] > 10
    count = after["onair_encoder_glass_to_packet_seconds_count"]
    assert count > 30
    assert 0.001 < after["onair_encoder_glass_to_packet_seconds_sum"] / count < 0.3
    labels = '{destination="one",kind="RTMP"}'
    assert after[f"onair_destination_connected{labels}"] == 1
    assert after[f"onair_destination_sessions_total{labels}"] == 1
    assert after[f"onair_destination_sent_bytes_total{labels}"] > 50_000
    assert after[f"onair_destination_dropped_packets_total{labels}"] == 0


def assert_snapshots(pair: PodPair) -> None:
    """The page at the programme's size, each key frame decoded once however many requests there are."""

    def painted(content: bytes) -> Painted | None:
        return read_frame(gray_pixels(content).reshape(360, 640))

    def snapshot(_: int = 0) -> bytes:
        response = pair.http.get("/v1/snapshot", headers=pair.snapshot_key).raise_for_status()
        assert response.headers["Content-Type"] == "image/jpeg"
        return response.content

    def wall_ms(content: bytes) -> int:
        seen = painted(content)
        assert seen, "the page is in every snapshot once it was in one"
        return seen.wall_ms

    # The first key frame may be from before the page's first paint, and stays for a second.
    pair.wait_for(lambda: painted(snapshot()), "the page in a snapshot", 5.0)
    first = wall_ms(snapshot())
    assert abs(time.time() * 1000 - first) < 3000
    pair.wait_for(
        lambda: pair.metrics()["onair_encoder_frames_total"] > 75, "key frames are a second apart", 10.0
    )
    with ThreadPoolExecutor(8) as threads:
        contents = set(threads.map(snapshot, range(16)))
    assert len(contents) <= 3
    pair.wait_for(lambda: wall_ms(snapshot()) > first, "a later snapshot")


def test_a_programme_ends_by_itself_at_its_time(pair: PodPair, page: str, far_end: RtmpContainer) -> None:
    pair.put(programme(page, far_end, "timed"))
    pair.wait_phase("running")
    pair.put(programme(page, far_end, "timed", stop_at="2020-01-01T00:00:00Z"))
    assert pair.wait_phase("finished").error == "DurationExceeded"
