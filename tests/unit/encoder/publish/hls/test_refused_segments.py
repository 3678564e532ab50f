"""A segment that a storage never takes does not keep what comes after it waiting."""

from __future__ import annotations

import pytest
from tests.support.delivery.bucket import names
from tests.support.delivery.hls_in_memory import HlsInMemory

from onair_crds.session_error import SessionError
from onair_encoder.publish.hls.storage_error import TooLarge

SECOND = "00000001."
TOO_LARGE = TooLarge("the storage refuses a segment of this size")


@pytest.mark.parametrize("vod", [True, False])
async def test_a_segment_that_is_too_large_for_a_storage_is_dropped_and_reported(
    hls: HlsInMemory, vod: bool
) -> None:
    bucket, index = hls.bucket, "run.m3u8" if vod else "index.m3u8"
    publisher = await hls.publisher(hls.wanted(vod=vod))
    hls.programme.segments(1)
    await bucket.until(lambda: index in bucket.objects, "a playlist")
    bucket.refuses = lambda method, key: TOO_LARGE if method == "PUT" and SECOND in key else None
    hls.programme.segments(1)
    await bucket.until(lambda: "this size" in (publisher.destination.state.last_error or ""), "reported")
    bucket.refuses = lambda method, key: None
    hls.programme.segments(2)
    await bucket.until(lambda: publisher.destination.is_connected, "it goes on")
    assert publisher.destination.counters.dropped > 0
    await publisher.finish()
    text = bucket.text(index)
    assert len(names(text)) == 4, "of five"
    assert text.count("#EXT-X-DISCONTINUITY\n") == 1


async def test_at_the_end_too(hls: HlsInMemory) -> None:
    bucket = hls.bucket
    publisher = await hls.publisher()
    hls.programme.segments(1)
    await bucket.until(lambda: "run.m3u8" in bucket.objects, "a playlist")
    refused: list[str] = []

    def refuse_once(method: str, key: str) -> TooLarge | None:
        if method != "PUT" or SECOND not in key or refused:
            return None
        refused.append(key)
        return TOO_LARGE

    bucket.refuses = lambda method, key: SessionError("not available") if "_rec-" in key else None
    hls.programme.segments(3)
    publisher.destination.stop.set()
    await bucket.until(lambda: not hls.programme.fan_out._subscribers, "stopped")
    bucket.refuses = refuse_once
    await publisher.finish()
    text = bucket.text("run.m3u8")
    assert len(names(text)) == 4, "of five"
    assert text.endswith("#EXT-X-ENDLIST\n")
