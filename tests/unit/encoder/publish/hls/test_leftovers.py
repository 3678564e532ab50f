"""What destinations and agents leave on disk: taken up by whoever goes on, and removed in the end."""

from __future__ import annotations

import asyncio
import datetime as dt
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.support.delivery.hls_in_memory import HlsInMemory
from tests.support.waiting import until

from onair_crds.media.segmenter import Cut
from onair_crds.session_error import SessionError
from onair_encoder.publish.hls import drain, leftovers
from onair_encoder.publish.hls import spool as spool_module
from onair_encoder.publish.hls.kept_segments import Budget
from onair_encoder.publish.hls.leftovers import Leftovers
from onair_encoder.publish.hls.output import HlsOutput
from onair_encoder.publish.hls.spool import Spool
from onair_encoder.publish.hls.upload import Upload

BEGAN = dt.datetime(2026, 11, 21, 12, 0, 0, 123000, tzinfo=dt.UTC)


def cut(number: int, size: int = 100) -> Cut:
    return Cut(bytes([number]) * size, 2.0, BEGAN, False, 10)


def bytes_on(disk: Path) -> int:
    return sum(each.stat().st_size for each in disk.rglob("*.ts"))


def names_in(disk: Path) -> set[str]:
    return {each.name for each in disk.iterdir()}


def parts_on(disk: Path) -> int:
    return len(list(disk.rglob("*.new")))


async def test_leftovers_are_taken_by_their_place_alone_and_else_removed(tmp_path: Path) -> None:
    for name in ("one.9-1-0", "one.9-2-0", "two.9-3-0"):
        (tmp_path / name).mkdir()
    leftovers = Leftovers(tmp_path, Budget())
    assert [each.name for each in leftovers.take("one")] == ["one.9-1-0", "one.9-2-0"]
    assert leftovers.take("one") == []
    await leftovers.purge(leftovers.folders)
    assert names_in(tmp_path) == {"one.9-1-0", "one.9-2-0"}
    assert Leftovers(tmp_path / "none", Budget()).take("one") == []


async def test_leftovers_are_stored_in_the_order_of_their_age_each_after_a_hole(tmp_path: Path) -> None:
    names = ["key.9-999-0", "key.10-1000-1", "key.8-1000-2", "key.11-20000-0"]
    for number, name in enumerate(names):
        predecessor = Spool(tmp_path / name, Budget(), memory_bytes=0)
        for _ in range(3):
            await predecessor.put(cut(number))
    spool = Spool(tmp_path / "key.12-30000-0", Budget(), memory_bytes=0)
    taken = Leftovers(tmp_path, Budget()).take("key")
    assert [each.name for each in taken] == names
    for each in taken:
        spool.adopt(each)
    found = []
    while waiting := spool.first:
        found.append(((await spool.data(waiting))[0], waiting.cut.discontinuity))
        spool.done(waiting)
    assert found == [(number, first) for number in range(4) for first in (True, False)]


async def test_what_was_left_just_now_is_not_removed_with_what_was_left_long_ago(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    due: list[Callable[[], asyncio.Future[None]]] = []

    def purge_soon(left: Leftovers, folders: list[Path]) -> None:
        due.append(lambda: left.purge(folders))

    monkeypatch.setattr(Leftovers, "purge_soon", purge_soon)
    monkeypatch.setattr(leftovers, "SPOOL", tmp_path)
    monkeypatch.setattr(leftovers, "_leftovers", {})
    for name in ("gone.1-1-1", "key.1-1-1"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "00000001.ts").write_bytes(b"data")
    spool = leftovers.spool_of("key", None, keeps=True)
    spool.leave([cut(1)])
    leftovers.left(spool)
    await due[0]()
    (folder,) = names_in(tmp_path)
    assert folder.startswith("key."), "it is still to be stored"
    await due[1]()
    assert not names_in(tmp_path), "nobody goes on with it"


async def test_what_is_left_counts_as_used_until_it_is_taken_or_removed(tmp_path: Path) -> None:
    for key in ("one", "two"):
        predecessor = Spool(tmp_path / f"{key}.1-1-1", Budget(), memory_bytes=0)
        for number in range(4):
            await predecessor.put(cut(number))
    budget = Budget()
    leftovers = Leftovers(tmp_path, budget)
    assert budget.used_bytes >= 600
    spool = Spool(tmp_path / "one.2-2-2", budget, memory_bytes=0)
    for each in leftovers.take("one"):
        spool.adopt(each)
    assert spool.bytes == 300
    await leftovers.purge(leftovers.folders)
    assert budget.used_bytes == 300


async def test_an_agent_that_dies_again_and_again_fills_no_disk(tmp_path: Path) -> None:
    for process in range(8):
        budget = Budget(1000)
        spool = Spool(tmp_path / f"key.1-{process}-0", budget, memory_bytes=0, keeps=True)
        for each in Leftovers(tmp_path, budget).take("key"):
            spool.adopt(each)
        for number in range(4):
            await spool.put(cut(number, 200))
        (tmp_path / f"key.1-{process}-0" / "00000009.17.new").write_bytes(bytes(100))
        assert bytes_on(tmp_path) <= 1000
        assert parts_on(tmp_path) == 1
    assert len(names_in(tmp_path)) <= 3


async def test_what_there_is_no_room_for_any_more_is_the_oldest(tmp_path: Path) -> None:
    predecessor = Spool(tmp_path / "key.1-1-1", Budget(), memory_bytes=0)
    for number in range(5):
        await predecessor.put(cut(number))
    spool = Spool(tmp_path / "key.2-2-2", Budget(250), memory_bytes=0)
    spool.adopt(tmp_path / "key.1-1-1")
    found = [((await spool.data(each))[0], each.cut.discontinuity) for each in spool._waiting]
    assert found == [(3, True), (4, False)]
    assert spool.dropped_packets == 20
    assert bytes_on(tmp_path) == 200


@pytest.fixture
def held_threads(monkeypatch: pytest.MonkeyPatch) -> threading.Event:
    """Threads that write to a spool wait until this is set."""
    go_on = threading.Event()
    for name in ("keep", "keep_name"):
        write = getattr(spool_module, name)

        def held(*args: Any, write: Callable[..., None] = write) -> None:
            assert go_on.wait(10)
            write(*args)

        monkeypatch.setattr(spool_module, name, held)
    return go_on


@pytest.mark.parametrize("what", ["a segment", "a note of one"])
async def test_a_spool_that_is_closed_while_a_thread_writes_leaves_nothing(
    tmp_path: Path, held_threads: threading.Event, what: str
) -> None:
    spool = Spool(tmp_path / "key.1", Budget(), memory_bytes=0, keeps=True)
    await spool.put(cut(0))
    assert spool.first
    writing = asyncio.create_task(
        spool.put(cut(1)) if what == "a segment" else spool.stored(spool.first, "a name")
    )
    await until(lambda: spool._threads, "a thread writes", 10)
    writing.cancel()
    closing = asyncio.create_task(spool.close())
    await asyncio.gather(writing, return_exceptions=True)
    held_threads.set()
    await closing
    assert not (tmp_path / "key.1").exists()


async def test_a_recording_whose_time_to_drain_is_over_leaves_nothing_and_says_what_is_missing(
    hls: HlsInMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where what it does could not be cancelled in time, as a thread that parses."""
    over = asyncio.Event()

    async def unstoppable(_: Upload) -> None:
        while not over.is_set():
            try:
                await over.wait()
            except asyncio.CancelledError:
                continue

    monkeypatch.setattr(HlsOutput, "drain_s", 0.0)
    monkeypatch.setattr(HlsOutput, "finish_s", 0.0)
    monkeypatch.setattr(drain, "CLOSING_S", 0.0)
    monkeypatch.setattr(Upload, "conclude", unstoppable)
    hls.bucket.refuses = lambda method, key: SessionError("not available") if "_rec-" in key else None
    publisher = await hls.publisher()
    hls.programme.segments(4)
    await hls.bucket.until(lambda: len(list(hls.disk.rglob("*.ts"))) >= 3, "segments wait")
    publisher.destination.stop.set()
    output = publisher._output
    assert isinstance(output, HlsOutput)
    storing = output._storing
    await hls.bucket.until(lambda: storing and storing._time.done(), "its time is over")
    publisher.abort()
    over.set()
    await publisher.ended()
    assert not [each for each in hls.disk.rglob("*") if each.is_file()]
    assert publisher.destination.state.missing_s >= 8.0
    assert publisher.destination.state.waiting_s == 0.0
