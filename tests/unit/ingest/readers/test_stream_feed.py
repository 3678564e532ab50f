"""Readers get configurations, the group of pictures on the air, then what comes; slow ones lose pictures."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from types import SimpleNamespace

import pytest

from onair_crds.contract.access_units import Record, UnitKind, decode
from onair_ingest.readers import stream_feed as feed_module
from onair_ingest.readers.stream_feed import FeedEnded, ReaderQueue, StreamFeed

VIDEO_CONFIG = Record(UnitKind.VIDEO_CONFIG, 0, 0, b"avc")
AUDIO_CONFIG = Record(UnitKind.AUDIO_CONFIG, 0, 0, b"aac")


def picture(at: int, key: bool = False, size: int = 10) -> Record:
    return Record(UnitKind.VIDEO, at, at, bytes(size), key)


def sound(at: int) -> Record:
    return Record(UnitKind.AUDIO, at, at, b"aac", key=True)


async def taken(subscription: ReaderQueue) -> list[Record]:
    """What waits now."""
    records = []
    try:
        while True:
            async with asyncio.timeout(0.01):
                records.append(decode(await subscription.next()))
    except (TimeoutError, FeedEnded):
        return records


@pytest.fixture
def feed() -> StreamFeed:
    feed = StreamFeed()
    for record in (VIDEO_CONFIG, AUDIO_CONFIG, picture(0, key=True), sound(1), picture(2)):
        feed.put(record)
    return feed


async def test_a_late_reader_begins_with_the_key_frame(feed: StreamFeed) -> None:
    feed.put(picture(3, key=True))
    feed.put(sound(4))
    subscription = feed.subscribe()
    feed.put(picture(5))
    assert [(r.kind, r.pts_us) for r in await taken(subscription)] == [
        (UnitKind.VIDEO_CONFIG, 0),
        (UnitKind.AUDIO_CONFIG, 0),
        (UnitKind.VIDEO, 3),
        (UnitKind.AUDIO, 4),
        (UnitKind.VIDEO, 5),
    ]


async def test_a_reader_who_meets_no_key_frame_hears_until_one_comes() -> None:
    feed = StreamFeed()
    feed.put(VIDEO_CONFIG)
    subscription = feed.subscribe()
    for record in (picture(0), sound(1), picture(2, key=True), picture(3)):
        feed.put(record)
    assert [(r.kind, r.pts_us) for r in await taken(subscription)][1:] == [
        (UnitKind.AUDIO, 1),
        (UnitKind.VIDEO, 2),
        (UnitKind.VIDEO, 3),
    ]


async def test_a_new_configuration_ends_the_group_of_pictures(feed: StreamFeed) -> None:
    feed.put(Record(UnitKind.VIDEO_CONFIG, 0, 0, b"another"))
    feed.put(picture(3))
    late = await taken(feed.subscribe())
    assert [r.payload for r in late if r.kind is UnitKind.VIDEO_CONFIG] == [b"another"]
    assert not [r for r in late if r.kind is UnitKind.VIDEO]


async def test_a_repeated_configuration_is_told_once(feed: StreamFeed) -> None:
    subscription = feed.subscribe()
    await taken(subscription)
    feed.put(VIDEO_CONFIG)
    assert await taken(subscription) == []


async def test_a_group_of_pictures_that_is_too_large_is_not_kept(
    feed: StreamFeed, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feed_module, "MAX_GOP_BYTES", 1000)
    for at in range(3, 300):
        feed.put(picture(at, size=100))
    assert [r.kind for r in await taken(feed.subscribe())] == [UnitKind.VIDEO_CONFIG, UnitKind.AUDIO_CONFIG]
    assert feed.key_frame() is None


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    now = [100.0]
    monkeypatch.setattr(feed_module, "time", SimpleNamespace(monotonic=lambda: now[0]))

    def pass_by(seconds: float) -> None:
        now[0] += seconds

    return pass_by


async def test_a_slow_reader_goes_on_with_the_next_key_frame(
    feed: StreamFeed, clock: Callable[[float], None]
) -> None:
    slow, quick = feed.subscribe(), feed.subscribe()
    await taken(slow)
    await taken(quick)
    feed.put(picture(3))
    clock(feed_module.MAX_BEHIND_S + 0.1)
    await taken(quick)
    for record in (picture(4), sound(5), picture(6, key=True), picture(7)):
        feed.put(record)
    assert [r.pts_us for r in await taken(quick)] == [4, 5, 6, 7]
    left = await taken(slow)
    assert [(r.pts_us, r.gap) for r in left] == [(5, False), (6, True), (7, False)]
    assert slow.dropped == 2


async def test_a_slow_reader_still_gets_a_new_configuration(
    feed: StreamFeed, clock: Callable[[float], None]
) -> None:
    slow = feed.subscribe()
    await taken(slow)
    feed.put(Record(UnitKind.VIDEO_CONFIG, 0, 0, b"another"))
    clock(feed_module.MAX_BEHIND_S + 0.1)
    feed.put(picture(3, key=True))
    assert [r.payload for r in await taken(slow) if r.kind is UnitKind.VIDEO_CONFIG] == [b"another"]


async def test_what_waits_for_a_reader_is_bounded(feed: StreamFeed, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(feed_module, "MAX_BEHIND_BYTES", 10_000)
    subscription = feed.subscribe()
    for at in range(3, 1000):
        feed.put(picture(at, key=at % 100 == 0, size=1000))
    assert sum(len(r.payload) for r in await taken(subscription)) < 12_000


async def test_configurations_that_wait_for_a_reader_are_bounded_too(
    feed: StreamFeed, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feed_module, "MAX_BEHIND_BYTES", 10_000)
    subscription = feed.subscribe()
    for at in range(1000):
        feed.put(Record(UnitKind.VIDEO_CONFIG, 0, 0, at.to_bytes(1000)))
    waiting = await taken(subscription)
    assert sum(len(r.payload) for r in waiting) < 12_000
    assert [r.payload for r in waiting if r.kind is UnitKind.VIDEO_CONFIG][-1] == (999).to_bytes(1000)
    assert [r.payload for r in waiting if r.kind is UnitKind.AUDIO_CONFIG] == [b"aac"]


async def test_what_waits_is_sent_before_the_end(feed: StreamFeed) -> None:
    subscription = feed.subscribe()
    feed.end(FeedEnded(4404, "over"))
    assert len(await taken(subscription)) == 5
    with pytest.raises(FeedEnded):
        await subscription.next()
