"""What a bucket's responses to a write on a condition mean."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from types import SimpleNamespace
from typing import Any, cast

import pytest

from onair_crds.contract.program import ProgramStorage
from onair_crds.session_error import SessionError
from onair_encoder.publish.hls import bucket as bucket_module
from onair_encoder.publish.hls.bucket import ABSENT, Bucket
from onair_encoder.publish.hls.object_store import StoredText
from onair_encoder.publish.hls.playlist_guard import PlaylistGuard
from onair_encoder.publish.hls.presentation import SegmentWriter
from onair_encoder.publish.hls.recording import Recording
from onair_encoder.publish.hls.storage_error import Changed, ConditionsUnsupported

STORAGE = ProgramStorage(region="r", bucket="shows", access_key="AK", secret_key="s3cret", vod=True)


def answering(status: int, code: str) -> Bucket:
    """A bucket that answers every request so."""

    async def read(_: int) -> bytes:
        return f"<Error><Code>{code}</Code></Error>".encode() if code else b""

    @asynccontextmanager
    async def request(*_: object) -> AsyncIterator[Any]:
        yield SimpleNamespace(status=status, etag="", read=read)

    bucket = Bucket(STORAGE, lambda: 1.0)
    bucket._requests = cast(Any, SimpleNamespace(server="s3.example", request=request))
    return bucket


async def put(status: int, code: str, if_match: str) -> None:
    await answering(status, code).put("index.m3u8", b"#EXTM3U", "text/plain", "no-cache", if_match)


@pytest.mark.parametrize(("status", "code"), [(412, "PreconditionFailed"), (404, "NoSuchKey"), (404, "")])
async def test_a_condition_on_an_object_that_is_another_or_gone_does_not_hold(status: int, code: str) -> None:
    with pytest.raises(Changed):
        await put(status, code, '"1"')


@pytest.mark.parametrize(
    ("status", "code", "if_match"),
    [(404, "NoSuchBucket", '"1"'), (404, "NoSuchKey", ""), (412, "PreconditionFailed", ""), (403, "", '"1"')],
)
async def test_any_other_refusal_is_no_change_of_the_object(status: int, code: str, if_match: str) -> None:
    with pytest.raises(SessionError) as refused:
        await put(status, code, if_match)
    assert not isinstance(refused.value, Changed)


@pytest.mark.parametrize(
    ("status", "code"),
    [(501, "NotImplemented"), (501, ""), (400, "InvalidArgument"), (400, "InvalidRequest")],
)
async def test_a_bucket_that_takes_no_conditions_says_so(status: int, code: str) -> None:
    with pytest.raises(ConditionsUnsupported):
        await put(status, code, ABSENT)
    with pytest.raises(SessionError) as refused:
        await put(status, code, "")
    assert not isinstance(refused.value, ConditionsUnsupported)


async def test_a_playlist_that_was_removed_is_stored_again() -> None:
    class ConditionalStore:
        def __init__(self) -> None:
            self.stored: bytes | None = None

        async def get(self, *_: object) -> StoredText:
            return StoredText((self.stored or b"").decode(), '"1"' if self.stored else "")

        async def put_playlist(self, _: str, text: bytes, if_match: str = "") -> str:
            if if_match and self.stored is None:
                await put(404, "NoSuchKey", if_match)
            elif if_match not in ("", '"1"'):
                await put(412, "PreconditionFailed", if_match)
            self.stored = text
            return '"1"'

    store: Any = ConditionalStore()
    guard = PlaylistGuard(store, Recording(STORAGE, SegmentWriter("run", 1, "a1")))
    await guard.store(b"#EXTM3U\n")
    store.stored = None
    await guard.store(b"#EXTM3U\n#more\n")
    assert store.stored == b"#EXTM3U\n#more\n"


async def test_an_object_that_is_no_playlist_by_its_size_is_not_taken_into_memory(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(bucket_module, "MOST_BYTES", 3)
    with pytest.raises(SessionError, match=r"s3.example: index.m3u8 is too large"):
        await answering(200, "x").get("index.m3u8")


async def test_of_an_object_no_more_is_read_than_is_asked_for() -> None:
    asked: list[int] = []

    async def read(most_bytes: int) -> bytes:
        asked.append(most_bytes)
        return b"#EXTM3U\n"[:most_bytes]

    @asynccontextmanager
    async def request(*_: object) -> AsyncIterator[Any]:
        yield SimpleNamespace(status=200, etag='"1"', read=read)

    bucket = Bucket(STORAGE, lambda: 1.0)
    bucket._requests = cast(Any, SimpleNamespace(server="s3.example", request=request))
    assert await bucket.get("index.m3u8", 4) == (b"#EXT", '"1"')
    assert await bucket.get("index.m3u8") == (b"#EXTM3U\n", '"1"')
    assert asked == [4, bucket_module.MOST_BYTES + 1]
