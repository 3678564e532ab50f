"""Work in the background: each piece once at a time, so many in all, and none beyond its end."""

from __future__ import annotations

import asyncio

from tests.support.waiting import until

from onair_operator.cluster.background import AT_A_TIME, Background


class HeldWork:
    """Pieces of work that take until they are let go."""

    def __init__(self) -> None:
        self.begun: list[str] = []
        self.done: list[str] = []
        self.go = asyncio.Event()

    async def piece(self, name: str) -> None:
        self.begun.append(name)
        await self.go.wait()
        self.done.append(name)


async def test_a_piece_of_work_is_done_once_at_a_time() -> None:
    background, work = Background(), HeldWork()
    for _ in range(2):
        background.begin("a", lambda: work.piece("a"))
        await asyncio.sleep(0)
    assert (work.begun, "a" in background) == (["a"], True)
    work.go.set()
    await until(lambda: "a" not in background)
    background.begin("a", lambda: work.piece("a"))
    await until(lambda: work.done == ["a", "a"])


async def test_of_many_pieces_of_work_so_many_are_under_way_and_the_others_have_their_turn() -> None:
    background, work = Background(), HeldWork()
    names = [str(number) for number in range(3 * AT_A_TIME)]
    for name in names:
        background.begin(name, lambda name=name: work.piece(name))  # type: ignore[misc]
    for _ in names:
        await asyncio.sleep(0)
    assert work.begun == names[:AT_A_TIME]
    assert all(name in background for name in names)
    work.go.set()
    await until(lambda: work.done == names)


async def test_nothing_is_under_way_or_begun_beyond_its_end() -> None:
    background, work = Background(), HeldWork()
    names = [str(number) for number in range(2 * AT_A_TIME)]
    for name in names:
        background.begin(name, lambda name=name: work.piece(name))  # type: ignore[misc]
    await until(lambda: len(work.begun) == AT_A_TIME)
    await background.close()
    work.go.set()
    for _ in names:
        await asyncio.sleep(0)
    assert (len(work.begun), work.done) == (AT_A_TIME, [])
    assert not any(name in background for name in names)


async def test_work_that_is_broken_leaves_its_turn_to_the_next() -> None:
    async def broken() -> None:
        raise ValueError("broken")

    background, work = Background(), HeldWork()
    work.go.set()
    for number in range(2 * AT_A_TIME):
        background.begin(str(number), broken)
    background.begin("a", lambda: work.piece("a"))
    await until(lambda: work.done == ["a"])
