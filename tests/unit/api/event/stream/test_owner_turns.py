"""What many streams ask for at once."""

from __future__ import annotations

import asyncio

from onair_api.event.stream.owner_turns import OwnerTurns

STREAMS, REQUESTS = 10, 5
MALLORY, ALICE = ("s", "mallory"), ("s", "alice")


async def test_one_request_of_an_owner_is_let_through_in_a_step() -> None:
    turns, through, steps = OwnerTurns(), 0, 0

    async def ask() -> None:
        nonlocal through
        for _ in range(REQUESTS):
            await turns.next(MALLORY)
            through += 1

    asking = [asyncio.create_task(ask()) for _ in range(STREAMS)]
    while not all(each.done() for each in asking):
        before = through
        await asyncio.sleep(0)
        steps += 1
        assert through - before <= 1
    assert (through, steps >= through) == (STREAMS * REQUESTS, True)


async def test_another_owner_does_not_wait_for_them() -> None:
    turns = OwnerTurns()
    asking = [asyncio.create_task(turns.next(MALLORY)) for _ in range(100)]
    await asyncio.sleep(0)
    mine = asyncio.create_task(turns.next(ALICE))
    for _ in range(3):
        await asyncio.sleep(0)
    assert mine.done()
    await asyncio.gather(*asking)


async def test_whoever_goes_as_it_waits_holds_up_nobody() -> None:
    turns = OwnerTurns()
    asking = [asyncio.create_task(turns.next(MALLORY)) for _ in range(10)]
    await asyncio.sleep(0)
    for each in asking[::2]:
        each.cancel()
    async with asyncio.timeout(5):
        await asyncio.gather(*asking[1::2])


async def test_nothing_is_kept() -> None:
    turns = OwnerTurns()
    await turns.next(MALLORY)
    assert len(turns._gates) == 0
