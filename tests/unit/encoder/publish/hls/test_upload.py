"""How an upload continues what another encoder has stored."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from onair_crds.media.playlist import Playlist
from onair_encoder.publish.hls.kept_segments import Budget
from onair_encoder.publish.hls.object_store import StoredText
from onair_encoder.publish.hls.segment_name import SegmentName
from onair_encoder.publish.hls.spool import Spool
from onair_encoder.publish.hls.upload import Upload
from onair_encoder.publish.supplied_destination import Counters

BEFORE_WE_LOOK_AGAIN = 5


class Parsing:
    """A presentation whose parsing takes until `go_on` is set."""

    index, copies, most_read = "index.m3u8", (), None

    def __init__(self) -> None:
        self.begun, self.go_on = threading.Event(), threading.Event()
        self.parsed = 0

    def displaced_by(self, _: str) -> None:
        return None

    def stored_late(self, _: str) -> list[SegmentName]:
        return []

    def overtake(self, _: list[SegmentName]) -> None:
        return

    def tail_of(self, _: str) -> str:
        return ""

    def resume(self, *_: str) -> None:
        self.begun.set()
        assert self.go_on.wait(10)
        self.parsed += 1

    @property
    def missing_s(self) -> float:
        if self.begun.is_set() and not self.parsed:
            raise RuntimeError("deque mutated during iteration")
        return 12.0


class ReadableStore:
    async def get(self, *_: object) -> StoredText:
        return StoredText("#EXTM3U", "")


class Lock:
    async def acquire(self) -> None:
        return


async def test_a_stop_while_a_playlist_is_parsed_waits_for_it_so_that_the_next_attempt_parses_alone(
    tmp_path: Path,
) -> None:
    presentation: Any = Parsing()
    nothing: Any = None
    presentation.playlist = Playlist(2.0, window=None)
    spool_writer: Any = SimpleNamespace(spool=Spool(tmp_path / "spool", Budget()))
    store: Any = ReadableStore()
    lock: Any = Lock()
    upload = Upload(nothing, spool_writer, presentation, store, lock, asyncio.Event())

    opening = asyncio.create_task(upload.resume())
    await asyncio.to_thread(presentation.begun.wait, 10)
    opening.cancel()
    for _ in range(BEFORE_WE_LOOK_AGAIN):
        await asyncio.sleep(0)
    assert not opening.done()
    presentation.go_on.set()
    with pytest.raises(asyncio.CancelledError):
        await opening
    assert presentation.parsed == 1

    await upload.resume()
    assert presentation.parsed == 2


async def test_what_is_missing_is_looked_at_once_no_thread_fills_the_playlist(tmp_path: Path) -> None:
    presentation: Any = Parsing()
    presentation.playlist = Playlist(2.0, window=None)
    told: list[tuple[float, float]] = []
    destination: Any = SimpleNamespace(counters=Counters(), recorded=lambda *them: told.append(them))
    spool_writer: Any = SimpleNamespace(spool=Spool(tmp_path / "spool", Budget()))
    store: Any = ReadableStore()
    lock: Any = Lock()
    upload = Upload(destination, spool_writer, presentation, store, lock, asyncio.Event())

    opening = asyncio.create_task(upload.resume())
    await asyncio.to_thread(presentation.begun.wait, 10)
    spool_writer.kept()
    presentation.go_on.set()
    await opening
    spool_writer.kept()
    assert told == [(0, 0.0), (0, 12.0)]
