"""A recording with a longest duration, which may be raised and lowered while it is on air."""

from __future__ import annotations

import pytest
from tests.support.delivery.bucket import names
from tests.support.delivery.hls_in_memory import SEGMENT_S, HlsInMemory

from onair_encoder.publish.destination_publisher import DestinationPublisher

RUN = "run.m3u8"
END = "#EXT-X-ENDLIST\n"


def ms(segments: int) -> int:
    return segments * SEGMENT_S * 1000


async def complete(hls: HlsInMemory, segments: int) -> DestinationPublisher:
    """One of so many segments, while the show goes on."""
    publisher = await hls.publisher(hls.wanted(max_duration_ms=ms(segments)))
    hls.programme.segments(segments + 2)
    await hls.bucket.until(lambda: "maximum" in (publisher.destination.state.last_error or ""), "complete")
    assert hls.bucket.text(RUN).endswith(END)
    assert len(names(hls.bucket.text(RUN))) == segments
    return publisher


async def test_a_longer_one_is_heeded_while_it_runs(hls: HlsInMemory) -> None:
    publisher = await hls.publisher(hls.wanted(max_duration_ms=ms(3)))
    hls.programme.segments(2)
    await hls.bucket.until(lambda: len(hls.bucket.listed) == 2, "two segments")
    assert publisher.update(hls.wanted(max_duration_ms=ms(5)))
    hls.programme.segments(2)
    await hls.bucket.until(lambda: len(hls.bucket.listed) == 4, "more than it could have had")
    assert publisher.destination.is_connected
    assert not hls.bucket.ended
    await publisher.finish()
    assert hls.bucket.text(RUN).count("#EXT-X-DISCONTINUITY\n") == 0


@pytest.mark.parametrize("later_ms", [ms(4), 0])
async def test_a_recording_that_was_complete_goes_on_where_it_may_be_longer(
    hls: HlsInMemory, later_ms: int
) -> None:
    publisher = await complete(hls, 2)
    assert publisher.update(hls.wanted(max_duration_ms=later_ms))
    await hls.bucket.until(lambda: hls.programme.fan_out._subscribers, "it takes packets again")
    hls.programme.segments(1)
    await hls.bucket.until(lambda: publisher.destination.is_connected, "connected")
    text = hls.bucket.text(RUN)
    assert END not in text
    assert len(names(text)) == 3
    assert text.count("#EXT-X-DISCONTINUITY\n") == 1, "what was between is not in it"
    await publisher.finish()
    assert hls.bucket.text(RUN).endswith(END)
    assert sorted(names(hls.bucket.text(RUN))) == sorted(hls.bucket.segments)
    assert hls.bucket.text("index.m3u8") == hls.bucket.text(RUN)


async def test_it_ends_at_the_longer_one_too(hls: HlsInMemory) -> None:
    publisher = await complete(hls, 2)
    assert publisher.update(hls.wanted(max_duration_ms=ms(3)))
    await hls.bucket.until(lambda: hls.programme.fan_out._subscribers, "it takes packets again")
    hls.programme.segments(3)
    await hls.bucket.until(lambda: "of 6 s" in (publisher.destination.state.last_error or ""), "complete")
    assert len(names(hls.bucket.text(RUN))) == 3
    assert hls.bucket.text(RUN).endswith(END)
    assert not hls.programme.fan_out._subscribers
    await publisher.finish()


async def test_a_shorter_one_ends_it_with_what_it_has(hls: HlsInMemory) -> None:
    publisher = await hls.publisher()
    hls.programme.segments(3)
    await hls.bucket.until(lambda: len(hls.bucket.listed) == 3, "three segments")
    assert publisher.update(hls.wanted(max_duration_ms=ms(2)))
    await hls.bucket.until(lambda: "of 4 s" in (publisher.destination.state.last_error or ""), "complete")
    assert hls.bucket.text(RUN).endswith(END)
    assert len(names(hls.bucket.text(RUN))) == 3
    await publisher.finish()


async def test_a_restarted_agent_goes_on_where_it_may_be_longer(hls: HlsInMemory) -> None:
    await hls.kill(await complete(hls, 2))
    second = await hls.publisher(hls.wanted(max_duration_ms=ms(3)))
    hls.programme.segments(2)
    await hls.bucket.until(lambda: "of 6 s" in (second.destination.state.last_error or ""), "complete")
    assert len(names(hls.bucket.text(RUN))) == 3
    await second.finish()


async def test_one_that_is_complete_stays_so_after_a_change_of_something_else(hls: HlsInMemory) -> None:
    publisher = await complete(hls, 2)
    assert publisher.update(hls.wanted(max_duration_ms=ms(2), acl="private"))
    hls.programme.segments(2)
    await publisher.finish()
    assert len(names(hls.bucket.text(RUN))) == 2
    assert len([key for key in hls.bucket.ended if key == RUN]) == 1
