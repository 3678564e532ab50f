"""Bitrate, size and profile are changed while on air."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.support.delivery.rtmp_container import RtmpContainer
from tests.support.media.stream import gray_pixels, video_figures
from tests.support.pages import served
from tests.support.pod_pair import PodPair, programme

pytestmark = pytest.mark.media

FRAME = """<!doctype html><body style="margin: 0; background: #000">
<div style="position: fixed; inset: 0; box-sizing: border-box; border: 8px solid #fff"></div>"""


def test_video_is_changed_while_live(pair: PodPair, page: str, far_end: RtmpContainer) -> None:
    url = far_end.read_url("changing")
    before = programme(page, far_end, "changing")
    pair.put(before)
    pair.wait_phase("running")
    pair.wait_connected("changing")
    connection = far_end.wait_publisher("changing")
    streams = pair.metrics()["onair_encoder_streams_total"]

    # What decoders accept within a stream needs no new connection
    changes: dict[str, Any] = {"bitrate_bps": 1_200_000, "keyframe_interval_frames": 15, "framerate": 20}
    smaller = before.model_copy(update={"video": before.video.model_copy(update=changes)})
    pair.put(smaller)
    pair.wait_for(lambda: pair.metrics()["onair_encoder_streams_total"] == streams + 1, "restarted")
    pair.wait_for(lambda: pair.metrics()["onair_encoder_bitrate_bps"] > 1_000_000, "at the new bitrate")
    found = video_figures(url)
    assert (found.width, found.height, found.gop_frames) == (640, 360, 15)
    assert found.framerate == pytest.approx(20, abs=0.5)
    assert found.bitrate_bps == pytest.approx(1_200_000, rel=0.15)
    assert far_end.publisher("changing") == connection

    # Another size does, at once and without being reported as disconnected
    changes = {"width": 480, "height": 270, "profile": "main"}
    pair.put(smaller.model_copy(update={"video": smaller.video.model_copy(update=changes)}))
    pair.wait_for(lambda: far_end.publisher("changing") not in (None, connection), "reconnected")
    pair.wait_for(lambda: far_end.received("changing") > 0, "received")
    found = video_figures(url)
    assert (found.width, found.height, found.profile) == (480, 270, "Main")
    assert pair.status().destinations[0].connect == "Connected"
    assert '"connect": "Disconnected"' not in pair.logs("encoder")


def frame_fills(pair: PodPair, width: int, height: int) -> bool:
    """Whether the snapshot has this size and the page's frame is at its edges and nowhere else."""
    response = pair.http.get("/v1/snapshot", headers=pair.snapshot_key)
    if response.status_code == httpx.codes.SERVICE_UNAVAILABLE:  # there is none yet of the new size
        return False
    pixels = gray_pixels(response.raise_for_status().content)
    if pixels.size != width * height:
        return False
    picture = pixels.reshape(height, width)
    edges = (picture[:6], picture[-6:], picture[:, :6], picture[:, -6:])
    return all(edge.min() > 180 for edge in edges) and bool(picture[12:-12, 12:-12].max() < 60)


def test_the_page_has_the_size_of_the_programme(
    pair: PodPair, tmp_path: Path, far_end: RtmpContainer
) -> None:
    """Also where that is smaller than the browser makes its windows, and when it changes while live."""
    (tmp_path / "frame.html").write_text(FRAME)
    with served(tmp_path) as address:
        show = programme(f"{address}/frame.html", far_end)
        pair.put(show)
        pair.wait_phase("running")
        # The very first frame may be the browser's own white, from before the page's first paint.
        for width, height in ((640, 360), (320, 180), (1280, 720), (480, 270), (640, 360)):
            changed = show.video.model_copy(update={"width": width, "height": height})
            pair.put(show.model_copy(update={"video": changed}))
            pair.wait_for(partial(frame_fills, pair, width, height), f"{width}×{height}")
