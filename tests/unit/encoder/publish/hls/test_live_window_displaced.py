"""A live window that another broadcast has displaced goes on once that one has ended, and not before."""

from __future__ import annotations

from tests.support.delivery.bucket import names
from tests.support.delivery.hls_in_memory import HlsInMemory

from onair_encoder.publish.destination_publisher import DestinationPublisher
from onair_encoder.publish.hls.segment_name import SegmentName

INDEX = "index.m3u8"


async def displaced(hls: HlsInMemory) -> tuple[DestinationPublisher, DestinationPublisher]:
    """One that was live when another broadcast, of another pod, began in its place; and that other one."""
    window = hls.wanted(vod=False)
    first = await hls.publisher(window, run="first")
    hls.programme.segments(3)
    await hls.bucket.until(lambda: len(names(hls.bucket.text(INDEX))) == 3, "the first one is live")
    hls.another_pod()
    other = await hls.publisher(window, run="other")
    hls.programme.segments(1)
    await hls.bucket.until(lambda: names_of(hls, "other"), "the other one is live")
    hls.programme.segments(1)
    await hls.bucket.until(
        lambda: "another broadcast" in str(first.destination.state.last_error), "displaced"
    )
    return first, other


def names_of(hls: HlsInMemory, run: str) -> list[str]:
    return [name for name in names(hls.bucket.text(INDEX)) if name.startswith(f"{run}-")]


def looks_again(publisher: DestinationPublisher) -> bool:
    """As after 15 to 30 s, with an operator that is in touch."""
    publisher.destination.run.contact.heard()
    publisher.retry_now()
    return publisher.destination.state.attempts > 2


async def test_it_goes_on_with_greater_numbers_once_the_other_one_has_ended(hls: HlsInMemory) -> None:
    first, other = await displaced(hls)
    before = set(hls.bucket.segments)
    await other.finish()
    last = [SegmentName.of(each) for each in hls.bucket.segments]
    hls.programme.segments(1)
    await hls.bucket.until(lambda: looks_again(first) or names_of(hls, "first"), "it looks again")
    await hls.bucket.until(lambda: names_of(hls, "first"), "it is live again")
    text = hls.bucket.text(INDEX)
    assert names(text) == names_of(hls, "first")
    assert "#EXT-X-ENDLIST" not in text
    assert not before.intersection(names(text)), "no name is given twice"
    numbers = [each.number for each in map(SegmentName.of, names(text)) if each]
    assert min(numbers) > max(each.number for each in last if each)
    await first.finish()
    assert names_of(hls, "first")


async def test_it_stays_away_while_the_other_one_is_live(hls: HlsInMemory) -> None:
    first, other = await displaced(hls)
    await hls.bucket.until(lambda: looks_again(first), "it looks again and again")
    hls.programme.segments(2)
    await hls.bucket.until(lambda: len(names_of(hls, "other")) >= 4, "the other one goes on")
    assert "another broadcast" in str(first.destination.state.last_error)
    await first.finish()
    await other.finish()
    assert not names_of(hls, "first")


async def test_one_that_is_to_stop_leaves_the_other_ones_playlist_as_it_ended(hls: HlsInMemory) -> None:
    first, other = await displaced(hls)
    await other.finish()
    ended = hls.bucket.text(INDEX)
    await first.finish()
    assert hls.bucket.text(INDEX) == ended
