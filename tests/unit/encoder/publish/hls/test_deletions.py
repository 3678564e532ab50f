"""Old segments are deleted beside the uploads."""

from __future__ import annotations

import json
from functools import partial

import pytest
from tests.support.delivery.bucket import names
from tests.support.delivery.hls_in_memory import HlsInMemory

from onair_encoder.publish.hls.storage_error import storage_error

INDEX = "index.m3u8"


async def live(hls: HlsInMemory, segments: int) -> None:
    """So many more segments, one after the other."""

    def more_playlists_than(known: int) -> bool:
        return hls.bucket.requests.count(("PUT", INDEX)) > known

    for _ in range(segments):
        known = len([each for each in hls.bucket.requests if each == ("PUT", INDEX)])
        hls.programme.segments(1)
        await hls.bucket.until(partial(more_playlists_than, known), "another playlist")


async def test_a_bucket_that_does_not_answer_deletions_delays_no_segment(hls: HlsInMemory) -> None:
    hls.bucket.hold(lambda method, key: method == "DELETE")
    publisher = await hls.publisher(hls.wanted(vod=False, playlist_count=2, file_count=4))
    await live(hls, 20)
    assert len([each for each in hls.bucket.requests if each[0] == "DELETE"]) <= 4
    assert len(hls.bucket.segments) == 20
    hls.bucket.release()
    await live(hls, 8)
    await hls.bucket.until(lambda: len(hls.bucket.segments) <= 9, "old segments are gone")
    assert publisher.destination.counters.undeleted == 0


async def test_a_bucket_that_refuses_deletions_is_said_once_and_asked_for_one_at_a_time(
    hls: HlsInMemory, capsys: pytest.CaptureFixture[str]
) -> None:
    wanted = hls.wanted(vod=False, playlist_count=2, file_count=4)
    assert wanted.storage
    denied = storage_error(403, "AccessDenied", wanted.storage, "s3.example")
    hls.bucket.refuses = lambda method, key: denied if method == "DELETE" else None
    publisher = await hls.publisher(wanted)
    await live(hls, 30)
    await hls.bucket.until(lambda: publisher.destination.counters.undeleted >= 20, "the count grows")
    assert len([each for each in hls.bucket.requests if each[0] == "DELETE"]) <= 30
    hls.bucket.refuses = lambda method, key: None
    await live(hls, 12)
    await hls.bucket.until(lambda: len(hls.bucket.segments) <= 9, "they are deleted after all")
    assert publisher.destination.counters.undeleted == 0
    logged = [json.loads(line)["event"] for line in capsys.readouterr().err.splitlines()]
    assert [each for each in logged if each.startswith("hls.")] == ["hls.not-deleted", "hls.deleted-again"]
    await publisher.finish()
    assert names(hls.bucket.text(INDEX))


async def test_what_is_withdrawn_while_others_are_deleted_is_deleted_after_them(hls: HlsInMemory) -> None:
    publisher = await hls.publisher(hls.wanted(vod=False, playlist_count=2, file_count=4))
    hls.bucket.hold(lambda method, key: method == "DELETE")
    await live(hls, 12)
    await hls.bucket.until(lambda: any_deletion(hls), "deletions")
    index = hls.bucket.text(INDEX)
    await hls.bucket.put(INDEX, index.replace(".1.", ".2.").encode(), "", "")
    hls.programme.segments(1)
    await hls.bucket.until(lambda: publisher.destination.state.last_error, "stood down")
    last = max(hls.bucket.segments)
    hls.bucket.release()
    await hls.bucket.until(lambda: last not in hls.bucket.segments, "its last segment is gone")


def any_deletion(hls: HlsInMemory) -> bool:
    return any(method == "DELETE" for method, _ in hls.bucket.requests)
