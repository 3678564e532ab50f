"""Segments are kept whatever becomes of those who are told of them."""

from __future__ import annotations

import asyncio
import datetime as dt
import threading
from pathlib import Path

import pytest

from onair_crds.media.segmenter import Cut, Segmenter
from onair_encoder.media.fan_out import FanOut
from onair_encoder.publish.hls.kept_segments import Budget
from onair_encoder.publish.hls.spool import Spool
from onair_encoder.publish.hls.spool_writer import SpoolWriter

BEGAN = dt.datetime(2026, 11, 21, 12, 0, tzinfo=dt.UTC)


async def test_a_segment_that_could_not_be_counted_is_kept_and_so_are_those_that_follow(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    spool = Spool(tmp_path / "spool", Budget())
    writer = SpoolWriter(FanOut(), Segmenter(2000, lambda: BEGAN), spool)

    def kept() -> None:
        raise RuntimeError("s3cret")

    writer.kept = kept
    for _ in range(3):
        writer._cuts.put_nowait(Cut(b"x", 2.0, BEGAN, False, 1))
    async with asyncio.timeout(10):
        await writer.flush()
    assert len(spool) == 3
    assert writer.ready.is_set()
    said = capsys.readouterr().err
    assert said.count("hls.not-counted") == 3
    assert "s3cret" not in said
    await writer.close()


async def test_segments_are_kept_on_where_there_was_no_thread_to_write_one_with(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    spool = Spool(tmp_path / "spool", Budget(), 0, keeps=True)
    writer = SpoolWriter(FanOut(), Segmenter(2000, lambda: BEGAN), spool)
    begin, refused = threading.Thread.start, [True]

    def start(thread: threading.Thread) -> None:
        if refused and refused.pop():
            raise RuntimeError("can't start new thread")
        begin(thread)

    monkeypatch.setattr(threading.Thread, "start", start)
    for _ in range(4):
        writer._cuts.put_nowait(Cut(b"x", 2.0, BEGAN, False, 1))
    async with asyncio.timeout(10):
        await writer.flush()
    assert len(spool) == 4, "two of them in memory"
    written = sorted(each.name for each in (tmp_path / "spool").glob("*.ts"))
    assert written == ["00000003.ts", "00000004.ts"], "what found no thread is not written later"
    assert "can't start new thread" in capsys.readouterr().err
    await writer.close()
