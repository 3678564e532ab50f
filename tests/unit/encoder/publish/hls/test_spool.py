"""A spool keeps its order and its limits."""

from __future__ import annotations

import asyncio
import contextlib
import datetime as dt
import errno
from pathlib import Path

import pytest
from tests.support.waiting import until

from onair_crds.media.segmenter import Cut
from onair_encoder.publish.hls import spool as spool_module
from onair_encoder.publish.hls.kept_segments import Budget
from onair_encoder.publish.hls.spool import Spool

BEGAN = dt.datetime(2026, 11, 21, 12, 0, 0, 123000, tzinfo=dt.UTC)


def cut(number: int, size: int = 100) -> Cut:
    return Cut(bytes([number]) * size, 2.0, BEGAN, False, 10)


def test_a_spool_gives_back_what_it_took_in_order(tmp_path: Path) -> None:
    async def story() -> None:
        budget = Budget(10_000)
        spool = Spool(tmp_path / "spool", budget, memory_bytes=250)
        for number in range(6):
            await spool.put(cut(number))
        assert (len(spool), spool.bytes) == (6, 600)
        assert budget.used_bytes == 400, "what is over the memory's share is on disk"
        for number in range(6):
            assert spool.first
            assert await spool.data(spool.first) == bytes([number]) * 100
            spool.done(spool.first)
        assert (spool.bytes, budget.used_bytes, spool.dropped_packets) == (0, 0, 0)
        assert not list((tmp_path / "spool").glob("*"))

    asyncio.run(story())


@pytest.mark.parametrize("under_way", [True, False])
async def test_a_full_spool_drops_the_oldest_but_the_one_under_way(tmp_path: Path, under_way: bool) -> None:
    budget = Budget(300)
    spool = Spool(tmp_path / "spool", budget, memory_bytes=0)
    await spool.put(cut(0))
    await spool.put(cut(1))
    in_memory = spool.first
    assert in_memory
    spool.done(in_memory)
    first = spool.first
    assert first
    with spool.storing(first) if under_way else contextlib.nullcontext():
        for number in range(2, 9):
            await spool.put(cut(number))
    kept = []
    while spool.first:
        kept.append(((await spool.data(spool.first))[0], spool.first.cut.discontinuity))
        spool.done(spool.first)
    if under_way:
        assert kept == [(1, False), (7, True), (8, False)]
    else:
        assert kept == [(6, True), (7, False), (8, False)]
    assert budget.used_bytes == 0


async def test_a_segment_that_cannot_be_read_is_dropped_as_a_discontinuity(tmp_path: Path) -> None:
    spool = Spool(tmp_path, Budget(), memory_bytes=10)
    for number in range(3):
        await spool.put(cut(number))
    first = spool.first
    assert first
    spool.done(first)
    gone = spool.first
    assert gone
    assert gone.path
    gone.path.unlink()
    with pytest.raises(FileNotFoundError):
        await spool.data(gone)
    spool.drop(gone)
    following = spool.first
    assert following
    assert following.cut.discontinuity
    assert spool.dropped_packets == 10
    assert await spool.data(following) == bytes([2]) * 100


async def test_a_write_that_is_cancelled_takes_no_space(tmp_path: Path) -> None:
    budget = Budget()
    spool = Spool(tmp_path, budget, memory_bytes=10)
    await spool.put(cut(0))
    writing = asyncio.create_task(spool.put(cut(1, 20_000_000)))
    await until(lambda: budget.used_bytes, "it is being written", poll_s=0)
    writing.cancel()
    await asyncio.gather(writing, return_exceptions=True)
    assert writing.cancelled()
    await spool.close()
    assert budget.used_bytes == 0


@pytest.mark.parametrize("under_way", [True, False])
async def test_what_waits_spans_no_more_time_than_it_may(tmp_path: Path, under_way: bool) -> None:
    spool = Spool(tmp_path / "spool", Budget(), most_s=6.0)
    await spool.put(Cut(bytearray(b"0"), 2.0, BEGAN, False, 1))
    first = spool.first
    assert first
    with spool.storing(first) if under_way else contextlib.nullcontext():
        for number in range(1, 5):
            await spool.put(Cut(bytearray(b"%d" % number), 2.0, BEGAN, False, 1))
    found = []
    while waiting := spool.first:
        found.append((bytes(await spool.data(waiting)), waiting.cut.discontinuity))
        spool.done(waiting)
    if under_way:
        assert found == [(b"0", False), (b"3", True), (b"4", False)]
    else:
        assert found == [(b"2", True), (b"3", False), (b"4", False)]
    assert spool.dropped_packets == 2


async def test_a_restarted_agent_stores_what_its_predecessor_kept(tmp_path: Path) -> None:
    first = Spool(tmp_path / "key.1", Budget(10_000), memory_bytes=0)
    for number in range(5):
        await first.put(cut(number))
    lost = first.first
    assert lost
    assert lost.path is None, "the segment under way is in memory alone"
    (tmp_path / "key.1/00000003.ts").write_bytes(b"cut short")
    (tmp_path / "key.1/00000009.json").write_text("[")

    budget = Budget(10_000)
    second = Spool(tmp_path / "key.2", budget, memory_bytes=0)
    second.adopt(tmp_path / "key.1")
    await second.put(cut(9))
    assert (len(second), second.bytes, second.waits_s) == (4, 400, 8.0)
    found = []
    while waiting := second.first:
        found.append(((await second.data(waiting))[0], waiting.cut.began, waiting.cut.discontinuity))
        second.done(waiting)
    assert found == [(1, BEGAN, True), (3, BEGAN, True), (4, BEGAN, False), (9, BEGAN, True)]
    assert budget.used_bytes == 0
    await second.close()
    assert not await asyncio.to_thread(lambda: list(tmp_path.iterdir()))


async def test_what_waits_is_left_to_the_agent_that_follows_what_was_in_memory_too(tmp_path: Path) -> None:
    spool = Spool(tmp_path / "key.1", Budget(), memory_bytes=0, keeps=True)
    for number in range(3):
        await spool.put(cut(number))
    stored = spool.first
    assert stored
    await spool.stored(stored, "a name")
    spool.done(stored)
    spool.leave([cut(3)])
    follower = Spool(tmp_path / "key.2", Budget(), memory_bytes=0, keeps=True)
    follower.adopt(tmp_path / "key.1")
    found = [(each.name, each.cut.discontinuity) for each in follower._waiting]
    assert found == [("a name", True), ("", False), ("", False), ("", False)]
    assert [(await follower.data(each))[0] for each in list(follower._waiting)[1:]] == [1, 2, 3]


async def test_what_is_stored_is_noted_until_it_is_listed(tmp_path: Path) -> None:
    spool = Spool(tmp_path / "key.1", Budget(), memory_bytes=0, keeps=True)
    for number in range(3):
        await spool.put(cut(number))
    for name in ("first", "second"):
        waiting = spool.first
        assert waiting
        await spool.stored(waiting, name)
        spool.done(waiting)
    budget = Budget()
    follower = Spool(tmp_path / "key.2", budget, memory_bytes=0, keeps=True)
    follower.adopt(tmp_path / "key.1")
    assert (follower.bytes, budget.used_bytes) == (100, 100), "stored ones take no room"
    follower.skip_listed({"first", "other"})
    assert [each.name for each in follower._waiting] == ["second", ""]
    spool.listed()
    assert {each.name for each in (tmp_path / "key.1").iterdir()} == {"00000003.ts", "00000003.json"}


async def test_a_spool_that_is_closed_leaves_nothing(tmp_path: Path) -> None:
    spool = Spool(tmp_path / "key.1", Budget(), memory_bytes=0, keeps=True)
    await spool.put(cut(0))
    await spool.put(cut(1))
    await spool.close()
    assert not (tmp_path / "key.1").exists()


async def test_on_a_full_disk_segments_wait_in_memory_and_no_part_of_one_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A part that there was room for would keep the disk full."""

    def full(path: Path, data: bytes) -> int:
        with path.open("wb") as file:
            file.write(data[: len(data) // 2])
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(spool_module, "MEMORY_BYTES", 350)
    budget = Budget()
    spool = Spool(tmp_path / "spool", budget, memory_bytes=0, keeps=True)
    with monkeypatch.context() as broken:
        broken.setattr(Path, "write_bytes", full)
        for number in range(5):
            await spool.put(cut(number))
    assert not list((tmp_path / "spool").iterdir())
    assert budget.used_bytes == 0
    await spool.put(cut(5))
    found = []
    while waiting := spool.first:
        found.append(((await spool.data(waiting))[0], waiting.cut.discontinuity))
        spool.done(waiting)
    assert found == [(0, False), (1, False), (2, False), (5, True)]
    assert spool.dropped_packets == 20


async def test_what_is_being_written_to_disk_is_left_as_well(tmp_path: Path) -> None:
    """To whoever looks at once, though the thread that writes cannot be waited for."""
    spool = Spool(tmp_path / "key.1", Budget(), memory_bytes=0, keeps=True)
    await spool.put(cut(0))
    writing = asyncio.create_task(spool.put(cut(1, 20_000_000)))
    await until(lambda: spool._budget.used_bytes, "it is being written", poll_s=0)
    writing.cancel()
    spool.leave([cut(2)])
    follower = Spool(tmp_path / "key.2", Budget(), memory_bytes=0, keeps=True)
    follower.adopt(tmp_path / "key.1")
    assert [(await follower.data(each))[0] for each in follower._waiting] == [0, 1, 2]
    await asyncio.gather(writing, return_exceptions=True)
