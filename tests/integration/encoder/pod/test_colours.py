"""What a page paints is what a player shows, as the stream says what its colours are."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.support.delivery.rtmp_container import RtmpContainer
from tests.support.media import probe
from tests.support.media.colours import BT709, PATCHES, most_off, patches_page, seen_patches, tags_of
from tests.support.pages import served
from tests.support.pod_pair import PodPair, programme

pytestmark = pytest.mark.media

MOST_OFF = 3
"""Of 255, by any channel."""


def test_painted_colours_arrive_and_are_those_of_a_snapshot(
    pair: PodPair, tmp_path: Path, far_end: RtmpContainer
) -> None:
    (tmp_path / "patches.html").write_text(patches_page())
    with served(tmp_path) as address:
        pair.put(programme(f"{address}/patches.html", far_end, "colours"))
        pair.wait_phase("running")
        pair.wait_connected("colours")
        recording = probe.record(far_end.read_url("colours"), 2, tmp_path).path
        response = pair.http.get("/v1/snapshot", headers=pair.snapshot_key)
    response.raise_for_status()
    snapshot = tmp_path / "snapshot.jpg"
    snapshot.write_bytes(response.content)
    assert most_off(snapshot, 640, 360) <= MOST_OFF
    assert tags_of(recording) == BT709
    for painted, seen in zip(PATCHES, seen_patches(recording, 640, 360), strict=True):
        off = max(abs(a - b) for a, b in zip(painted, seen, strict=True))
        assert off <= MOST_OFF, f"{painted} arrives as {seen}"
