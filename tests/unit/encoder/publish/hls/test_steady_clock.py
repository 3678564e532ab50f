"""Segments of one process are as far apart as they were taken, wherever the wall clock is set."""

from __future__ import annotations

import datetime as dt

import pytest
from tests.support.clock_pair import ClockPair
from tests.support.delivery.hls_in_memory import HlsInMemory

from onair_crds.contract.program import ProgramStorage
from onair_crds.media.segmenter import Cut
from onair_encoder.publish.hls import output
from onair_encoder.publish.hls.presentation import SegmentWriter
from onair_encoder.publish.hls.recording import Recording
from onair_encoder.publish.hls.steady_clock import SteadyClock

OTHER_DAY = dt.datetime(2001, 2, 3, 12, 0, tzinfo=dt.UTC)
STORAGE = ProgramStorage(region="eu-west-1", bucket="shows", access_key="AK", secret_key="s3cret", vod=True)


@pytest.mark.parametrize("step_s", [3600.0, -3600.0])
def test_a_step_at_a_seam_is_no_hole_and_hides_none(step_s: float) -> None:
    clocks = ClockPair()
    clock = SteadyClock(lambda: clocks.time() - clocks.monotonic(), clocks.monotonic)
    recording = Recording(STORAGE, SegmentWriter("run", 1, "a1"))

    def segment(*, discontinuity: bool) -> None:
        recording.add(Cut(b"", 4.0, clock(), discontinuity, 1), recording.next_name)

    assert clock() == dt.datetime.fromtimestamp(clocks.time(), dt.UTC)
    segment(discontinuity=False)
    clocks.set_wall(step_s)
    clocks.go_on(4)
    segment(discontinuity=True)
    assert recording.missing_s == 0
    clocks.set_wall(step_s)
    clocks.go_on(4 + 8)
    segment(discontinuity=True)
    assert recording.missing_s == pytest.approx(8)


async def test_destinations_date_their_segments_by_it(
    hls: HlsInMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(output, "STEADY_CLOCK", lambda: OTHER_DAY)
    publisher = await hls.publisher()
    hls.programme.segments(1)
    await hls.bucket.until(lambda: "run.m3u8" in hls.bucket.objects, "a playlist")
    assert "#EXT-X-PROGRAM-DATE-TIME:2001-02-03T" in hls.bucket.text("run.m3u8")
    await publisher.finish()
