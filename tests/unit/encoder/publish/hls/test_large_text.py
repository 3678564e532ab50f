"""Large texts of a bucket keep no other destination waiting."""

from __future__ import annotations

import asyncio
import threading
from types import SimpleNamespace
from typing import Any

import pytest

from onair_crds.contract.program import ProgramStorage
from onair_encoder.publish.hls.large_text import LARGE_CHARS
from onair_encoder.publish.hls.live_window import MOST_READ, LiveWindow
from onair_encoder.publish.hls.object_store import ObjectStore, StoredText
from onair_encoder.publish.hls.playlist_guard import PlaylistGuard
from onair_encoder.publish.hls.presentation import Presentation, SegmentWriter
from onair_encoder.publish.hls.recording import Recording
from onair_encoder.publish.hls.upload import Upload

STORAGE = ProgramStorage(region="r", bucket="shows", access_key="AK", secret_key="s3cret")
WRITER = SegmentWriter("run", 1, "a1")
SMALL, LARGE = "a\n", "a\n" * LARGE_CHARS


class ForeignObject:
    """One that others have written."""

    def __init__(self, text: str) -> None:
        self._text = text
        self.asked: list[int | None] = []

    async def get(self, _: str, most_bytes: int | None = None) -> StoredText:
        self.asked.append(most_bytes)
        return StoredText(self._text, "")


def watched(presentation: Presentation, monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Whether each look through a text was on the loop."""
    on_loop: list[bool] = []
    loops = threading.get_ident()
    for name in ("stored_late", "known_to"):
        look = getattr(presentation, name)

        def looked(text: str, look: Any = look) -> Any:
            on_loop.append(threading.get_ident() == loops)
            return look(text)

        monkeypatch.setattr(presentation, name, looked)
    return on_loop


@pytest.mark.parametrize("kind", [LiveWindow, Recording])
@pytest.mark.parametrize(("text", "on_loop"), [(SMALL, True), (LARGE, False)], ids=["small", "large"])
async def test_a_large_playlist_is_looked_through_in_a_thread(
    monkeypatch: pytest.MonkeyPatch, kind: type[LiveWindow | Recording], text: str, on_loop: bool
) -> None:
    presentation = kind(STORAGE, WRITER)
    looks = watched(presentation, monkeypatch)
    store: Any = ForeignObject(text)
    await PlaylistGuard(store, presentation).read()
    assert looks == [on_loop]
    assert store.asked == [MOST_READ if kind is LiveWindow else None]

    any_one: Any = SimpleNamespace(spool=SimpleNamespace(listed=lambda: None))
    upload = Upload(any_one, any_one, presentation, store, any_one, asyncio.Event())
    upload._guard.others = text
    await upload._withdraw()
    assert looks == [on_loop] * 2
    await upload.deletions.close()


async def test_what_is_no_text_is_read_as_fast_as_any() -> None:
    """To replace each byte that is none takes ten times as long, and a thread is of no use there."""

    class Bytes:
        async def get(self, *_: object) -> tuple[bytes, str]:
            return b"\xff\x00", ""

    destination: Any = SimpleNamespace(run=SimpleNamespace(inside=None), wanted=None, timeout_s=1.0)
    store = ObjectStore(destination, STORAGE)
    store._bucket = Bytes()  # type: ignore[assignment]
    assert await store.get("index.m3u8") == StoredText("\xff\x00", "")
