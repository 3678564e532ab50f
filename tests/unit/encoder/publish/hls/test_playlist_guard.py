"""Who may replace a stored playlist, in buckets that heed conditions and in those that do not."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pytest

from onair_crds.contract.program import ProgramStorage
from onair_crds.media.segmenter import Cut
from onair_crds.session_error import SessionError
from onair_encoder.publish.hls.object_store import StoredText
from onair_encoder.publish.hls.playlist_guard import NO_ETAG, PlaylistGuard
from onair_encoder.publish.hls.presentation import SegmentWriter
from onair_encoder.publish.hls.recording import Recording
from onair_encoder.publish.hls.storage_error import Changed, ConditionsUnsupported, NotReadable

STORAGE = ProgramStorage(region="r", bucket="shows", access_key="AK", secret_key="s3cret", vod=True)


class OnePlaylistBucket:
    """One playlist, and a list of what was asked of it."""

    def __init__(self, conditions: str, *, readable: bool = True) -> None:
        """
        Args:
            conditions: heeded, ignored, refused, or broken: no condition ever holds.
        """
        self.available = True
        self.text, self.version = b"", 0
        self.asked: list[str] = []
        self.conditions, self._readable = conditions, readable

    async def get(self, *_: object) -> StoredText:
        self.asked.append("get")
        if not self._readable:
            raise NotReadable("denied", permanent=True)
        return StoredText(self.text.decode(), f'"{self.version}"' if self.version else "")

    async def put_playlist(self, _: str, text: bytes, if_match: str = "") -> str:
        self.asked.append(f"put {if_match}".strip())
        if if_match:
            if not self.available:
                raise SessionError("no response")
            if self.conditions == "refused":
                raise ConditionsUnsupported("takes no conditions")
            holds = if_match == f'"{self.version}"' and self.conditions != "broken"
            if self.conditions != "ignored" and not holds:
                raise Changed("changed", permanent=True)
        self.text, self.version = text, self.version + 1
        return f'"{self.version}"'


def text_of(epoch: int) -> bytes:
    recording = Recording(STORAGE, SegmentWriter("run", epoch, "a1"))
    cut = Cut(b"", 2.0, dt.datetime(2026, 11, 21, tzinfo=dt.UTC), False, 1)
    recording.add(cut, recording.next_name)
    return recording.text().encode()


def guard_of(bucket: Any) -> PlaylistGuard:
    return PlaylistGuard(bucket, Recording(STORAGE, SegmentWriter("run", 1, "a1")))


async def test_where_conditions_are_heeded_nothing_is_read_after_the_first() -> None:
    bucket = OnePlaylistBucket("heeded")
    guard = guard_of(bucket)
    for _ in range(3):
        await guard.store(text_of(1))
    assert bucket.asked == ["get", "put", f"put {NO_ETAG}", 'put "1"', 'put "2"']


@pytest.mark.parametrize("conditions", ["ignored", "refused"])
async def test_where_conditions_are_of_no_use_each_write_follows_a_read(conditions: str) -> None:
    bucket = OnePlaylistBucket(conditions)
    guard = guard_of(bucket)
    for _ in range(3):
        await guard.store(text_of(1))
    assert bucket.asked == ["get", "put", f"put {NO_ETAG}", "get", "put", "get", "put"]


@pytest.mark.parametrize("conditions", ["heeded", "ignored", "refused"])
async def test_a_higher_epochs_playlist_is_never_replaced(conditions: str) -> None:
    bucket = OnePlaylistBucket(conditions)
    guard = guard_of(bucket)
    await guard.store(text_of(1))
    await bucket.put_playlist("", text_of(2))
    for _ in range(2):
        with pytest.raises(
            SessionError, match="encoder 2 of this broadcast writes to bucket shows"
        ) as refused:
            await guard.store(text_of(1))
        assert refused.value.displaced
    assert bucket.text == text_of(2)


@pytest.mark.parametrize("conditions", ["heeded", "broken"])
async def test_a_write_whose_response_was_lost_is_no_other_encoder(conditions: str) -> None:
    bucket = OnePlaylistBucket(conditions)
    guard = guard_of(bucket)
    await guard.store(text_of(1))
    bucket.version += 1
    for _ in range(2):
        await guard.store(text_of(1) + b"#more\n")
    assert bucket.text.endswith(b"#more\n")


async def test_credentials_that_may_only_write_notice_by_conditions_alone() -> None:
    bucket = OnePlaylistBucket("heeded", readable=False)
    guard = guard_of(bucket)
    await guard.store(text_of(1))
    await bucket.put_playlist("", text_of(2))
    with pytest.raises(SessionError, match="another encoder or broadcast writes to bucket shows"):
        await guard.store(text_of(1))
    assert bucket.text == text_of(2)


@pytest.mark.parametrize("conditions", ["ignored", "refused"])
async def test_credentials_that_may_only_write_are_enough_where_conditions_are_of_no_use(
    conditions: str,
) -> None:
    bucket = OnePlaylistBucket(conditions, readable=False)
    guard = guard_of(bucket)
    for epoch in (1, 2):
        await guard.store(text_of(epoch))
        assert bucket.text == text_of(epoch)


def probes(bucket: OnePlaylistBucket) -> list[int]:
    """Which of the playlists was followed by the question whether conditions are heeded."""
    found, stored = [], -1
    for asked in bucket.asked:
        if asked == f"put {NO_ETAG}":
            found.append(stored)
        elif asked.startswith("put"):
            stored += 1
    return found


async def test_a_storage_that_was_away_is_asked_again_whether_it_heeds_conditions() -> None:
    bucket = OnePlaylistBucket("heeded")
    guard = guard_of(bucket)
    bucket.available = False
    for _ in range(4):
        await guard.store(text_of(1))
    assert probes(bucket) == [0, 2]
    bucket.available = True
    for _ in range(3):
        await guard.store(text_of(1))
    assert probes(bucket) == [0, 2, 5]
    assert bucket.asked[-1].startswith('put "'), "and believed"
    await bucket.put_playlist("", text_of(2))
    with pytest.raises(SessionError, match="encoder 2 of this broadcast"):
        await guard.store(text_of(1))


async def test_a_bucket_that_never_answers_that_question_is_asked_ever_more_rarely() -> None:
    bucket = OnePlaylistBucket("heeded")
    guard = guard_of(bucket)
    bucket.available = False
    for _ in range(400):
        await guard.store(text_of(1))
    assert probes(bucket) == [0, 2, 5, 10, 19, 36, 69, 134, 199, 264, 329, 394]


async def test_a_bucket_for_which_no_condition_ever_holds_costs_little_in_the_long_run() -> None:
    bucket = OnePlaylistBucket("broken")
    guard = guard_of(bucket)
    for _ in range(300):
        await guard.store(text_of(1))
    assert len(bucket.asked) < 2 * 300 + 50


async def test_a_storage_that_takes_no_conditions_any_more_gets_its_playlists_after_a_read() -> None:
    bucket = OnePlaylistBucket("heeded")
    guard = guard_of(bucket)
    await guard.store(text_of(1))
    bucket.conditions = "refused"
    await guard.store(text_of(1) + b"#more\n")
    assert bucket.text.endswith(b"#more\n")
    await bucket.put_playlist("", text_of(2))
    with pytest.raises(SessionError, match="encoder 2 of this broadcast"):
        await guard.store(text_of(1))
